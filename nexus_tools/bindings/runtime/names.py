"""What Move names are called in Python: the same, or with an underscore behind them."""

from keyword import iskeyword

ERRORS = "ERRORS"
"""What a module calls its errors, or with an underscore behind it if that is a struct of it."""

_ANNOTATIONS = frozenset({"bool", "bytes", "int", "str", "tuple"})
_MEMBERS = frozenset({"bcs", "bcs_takes", "move_name", "type_tag"})
_PARAMETERS = frozenset({"builder", "package"})


def class_name(name: str) -> str:
    """The class of a struct, an enum or a variant. `Variant` is what an enum calls all of its."""
    return _behind(name, iskeyword(name))


def variant_name(name: str) -> str:
    """The class of a variant."""
    return _behind(name, iskeyword(name) or name == "Variant" or name in _MEMBERS)


def module_name(name: str) -> str:
    """The file of a module."""
    return _behind(name, iskeyword(name) or name == "__init__")


def field_name(name: str) -> str:
    """A field. Those that annotations are made of would hide them from the fields that follow."""
    return _behind(name, iskeyword(name) or name in _ANNOTATIONS or name in _MEMBERS)


def function_name(name: str) -> str:
    """A function."""
    return _behind(name, iskeyword(name) or name in _ANNOTATIONS)


def parameter_name(name: str) -> str:
    """A parameter."""
    plain = name.lstrip("_")
    return _behind(plain, iskeyword(plain) or plain in _PARAMETERS)


def _behind(name: str, is_taken: bool) -> str:
    return f"{name}_" if is_taken else name
