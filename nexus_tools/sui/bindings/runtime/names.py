"""What Move names are called in Python: the same, or with an underscore behind them.

What is generated uses names of its own, and none from Move may hide them. Of those with an
underscore behind them already each gets one more, so that no two names become the same.
"""

from collections.abc import Collection
from keyword import iskeyword

ERRORS = "ERRORS"
"""What a module calls its errors, or with underscores behind it if it has that name otherwise."""

TYPES = "TYPES"
"""What a package calls the types that it has classes for."""

_ANNOTATIONS = frozenset({"bool", "bytes", "int", "str", "tuple"})
_MEMBERS = frozenset({"bcs", "bcs_takes", "move_name", "staticmethod", "type_tag"})
# msgspec knows class variables by this word, so that it cannot be imported under another name.
_MODULE_LEVEL = _ANNOTATIONS | {"ClassVar", "annotations", "staticmethod"}
# The classes inside of an enum hide these from those that follow.
_VARIANTS = _MEMBERS | {"Generic", "MoveVariant", "TypeAlias", "Variant"}
_PARAMETERS = frozenset({"builder", "package"})
# Python gives names that begin with two underscores a meaning of their own, or mangles them in
# classes; no name has a meaning, nor is mangled, that ends with these.
_AFTER_DUNDER = "____"


def class_name(name: str) -> str:
    """The class of a struct or an enum. `Variant` is what an enum calls all of its."""
    return _behind(name, _MODULE_LEVEL)


def error_name(name: str) -> str:
    """The constant of an error."""
    return _behind(name, _MODULE_LEVEL)


def variant_name(name: str) -> str:
    """The class of a variant."""
    return _behind(name, _VARIANTS, is_taken=name.startswith("_"))


def module_name(name: str) -> str:
    """The file of a module."""
    return _behind(name, {TYPES})


def is_importable(folder: str) -> bool:
    """Whether Python can import a package from a folder of this name."""
    return folder.isidentifier() and module_name(folder) == folder


def field_name(name: str) -> str:
    """A field. It would hide what has its name from the annotations of fields that follow.

    Those are made of classes, which begin with capitals, of modules, which begin with an
    underscore, and of a few words.
    """
    return _behind(name, _ANNOTATIONS | _MEMBERS, is_taken=not name[0].islower())


def function_name(name: str) -> str:
    """A function."""
    return _behind(name, _MODULE_LEVEL)


def parameter_name(name: str) -> str:
    """A parameter; with a capital it would hide a class from the function."""
    plain = name.lstrip("_")
    if not plain[:1].isalpha():
        plain = f"value{plain}"
    return _behind(plain, _PARAMETERS, is_taken=plain[0].isupper())


def free_name(name: str, taken: Collection[str]) -> str:
    """The name with as many underscores behind it as make it another than those `taken`."""
    while name in taken:
        name += "_"
    return name


def _behind(name: str, taken: Collection[str], *, is_taken: bool = False) -> str:
    if name.startswith("__"):
        return name + _AFTER_DUNDER
    plain = name.rstrip("_")
    return f"{name}_" if is_taken or iskeyword(plain) or plain in taken else name
