"""Python names for Move declarations: the Move name, or that name with a trailing underscore.

A Move name must not hide a name that the generated code uses, such as `bool`. If a Move name,
without its trailing underscores, is used by the generated code, one underscore is appended to it.
Therefore, two different Move names have different Python names.
"""

from collections.abc import Collection
from keyword import iskeyword

ERRORS = "ERRORS"
"""The name of the tuple of a module's errors.

If the Move module defines the same name, underscores are appended to the name of the tuple.
"""

TYPES = "TYPES"
"""The name of the `Types` object in the bindings of a package."""

_ANNOTATIONS = frozenset({"bool", "bytes", "int", "str", "tuple"})
_MEMBERS = frozenset({"bcs", "bcs_takes", "move_name", "staticmethod", "type_tag"})
# msgspec recognizes class variables by the name `ClassVar`, so `ClassVar` cannot be renamed.
_MODULE_LEVEL = _ANNOTATIONS | {"ClassVar", "annotations", "staticmethod"}
# A variant's class with one of these names would hide the name from later classes in the enum.
_VARIANTS = _MEMBERS | {"Generic", "MoveVariant", "TypeAlias", "Variant"}
_PARAMETERS = frozenset({"builder", "package"})
# Python mangles a name that starts with two underscores in a class, or gives it a special meaning.
# A name that ends with this suffix is an ordinary name for Python.
_AFTER_DUNDER = "____"


def class_name(name: str) -> str:
    """Return the class name of a struct or an enum."""
    return _behind(name, _MODULE_LEVEL)


def error_name(name: str) -> str:
    """Return the name of the Python constant for an error."""
    return _behind(name, _MODULE_LEVEL)


def variant_name(name: str) -> str:
    """Return the class name of a variant."""
    return _behind(name, _VARIANTS, is_taken=name.startswith("_"))


def module_name(name: str) -> str:
    """Return the name of the Python module for a Move module."""
    return _behind(name, {TYPES})


def is_importable(folder: str) -> bool:
    """Return whether Python can import a package from a folder of this name."""
    return folder.isidentifier() and module_name(folder) == folder


def field_name(name: str) -> str:
    """Return the name of a field.

    A field name must not hide a name in the annotations of later fields. Annotations use classes,
    whose names start with a capital letter, modules, whose names start with an underscore, and a
    few built-in names.
    """
    return _behind(name, _ANNOTATIONS | _MEMBERS, is_taken=not name[0].islower())


def function_name(name: str) -> str:
    """Return the name of a function."""
    return _behind(name, _MODULE_LEVEL)


def parameter_name(name: str) -> str:
    """Return a parameter's name. A name that starts with a capital letter could hide a class."""
    plain = name.lstrip("_")
    if not plain[:1].isalpha():
        plain = f"value{plain}"
    return _behind(plain, _PARAMETERS, is_taken=plain[0].isupper())


def free_name(name: str, taken: Collection[str]) -> str:
    """Append underscores to a name until it is not in `taken`, and return it."""
    while name in taken:
        name += "_"
    return name


def _behind(name: str, taken: Collection[str], *, is_taken: bool = False) -> str:
    if name.startswith("__"):
        return name + _AFTER_DUNDER
    plain = name.rstrip("_")
    return f"{name}_" if is_taken or iskeyword(plain) or plain in taken else name
