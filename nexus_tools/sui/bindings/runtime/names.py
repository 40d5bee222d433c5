"""Python names of Move declarations: the same, or with a trailing underscore.

Generated code uses names of its own, which Move names must not hide. A name that already has a
trailing underscore gets another one, so that no two names become equal.
"""

from collections.abc import Collection
from keyword import iskeyword

ERRORS = "ERRORS"
"""The name of a module's errors. It gets trailing underscores if the module uses the name."""

TYPES = "TYPES"
"""The name of the types that a package has classes for."""

_ANNOTATIONS = frozenset({"bool", "bytes", "int", "str", "tuple"})
_MEMBERS = frozenset({"bcs", "bcs_takes", "move_name", "staticmethod", "type_tag"})
# msgspec recognizes class variables by this name, so it cannot be imported under another one.
_MODULE_LEVEL = _ANNOTATIONS | {"ClassVar", "annotations", "staticmethod"}
# The classes inside an enum hide these names from later classes.
_VARIANTS = _MEMBERS | {"Generic", "MoveVariant", "TypeAlias", "Variant"}
_PARAMETERS = frozenset({"builder", "package"})
# Python gives names that start with two underscores a special meaning, or mangles them in
# classes. Names that end with these suffixes are not affected.
_AFTER_DUNDER = "____"


def class_name(name: str) -> str:
    """Return a struct's or an enum's class name. `Variant` is the union of an enum's variants."""
    return _behind(name, _MODULE_LEVEL)


def error_name(name: str) -> str:
    """Return the constant name of an error."""
    return _behind(name, _MODULE_LEVEL)


def variant_name(name: str) -> str:
    """Return the class name of a variant."""
    return _behind(name, _VARIANTS, is_taken=name.startswith("_"))


def module_name(name: str) -> str:
    """Return the file name of a module."""
    return _behind(name, {TYPES})


def is_importable(folder: str) -> bool:
    """Return whether Python can import a package from a folder of this name."""
    return folder.isidentifier() and module_name(folder) == folder


def field_name(name: str) -> str:
    """Return the name of a field. It must not hide a name in the annotations of later fields.

    Annotations consist of classes, which start with a capital, of modules, which start with an
    underscore, and of a few other names.
    """
    return _behind(name, _ANNOTATIONS | _MEMBERS, is_taken=not name[0].islower())


def function_name(name: str) -> str:
    """Return the name of a function."""
    return _behind(name, _MODULE_LEVEL)


def parameter_name(name: str) -> str:
    """Return the name of a parameter. A capital would hide a class from the function."""
    plain = name.lstrip("_")
    if not plain[:1].isalpha():
        plain = f"value{plain}"
    return _behind(plain, _PARAMETERS, is_taken=plain[0].isupper())


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name with as many trailing underscores as it needs to differ from `taken`."""
    while name in taken:
        name += "_"
    return name


def _behind(name: str, taken: Collection[str], *, is_taken: bool = False) -> str:
    if name.startswith("__"):
        return name + _AFTER_DUNDER
    plain = name.rstrip("_")
    return f"{name}_" if is_taken or iskeyword(plain) or plain in taken else name
