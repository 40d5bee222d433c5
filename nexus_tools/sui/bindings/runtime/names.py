"""Python names for Move declarations: the Move name, or that name with a trailing underscore.

A Move name must not hide a name that the generated code uses. If the generated code uses a Move
name, apart from trailing underscores, the name gets one more underscore. So two different Move
names stay different.
"""

from collections.abc import Collection
from keyword import iskeyword

ERRORS = "ERRORS"
"""The name of the tuple of a module's errors.

If the module defines this name, underscores follow.
"""

TYPES = "TYPES"
"""The name of the `Types` object in the bindings of a package."""

_ANNOTATIONS = frozenset({"bool", "bytes", "int", "str", "tuple"})
_MEMBERS = frozenset({"bcs", "bcs_takes", "move_name", "staticmethod", "type_tag"})
# msgspec recognizes class variables by this name, so it cannot be imported under another one.
_MODULE_LEVEL = _ANNOTATIONS | {"ClassVar", "annotations", "staticmethod"}
# A class inside an enum's class would hide these names from the classes after it.
_VARIANTS = _MEMBERS | {"Generic", "MoveVariant", "TypeAlias", "Variant"}
_PARAMETERS = frozenset({"builder", "package"})
# Python mangles a name that starts with two underscores in a class, or gives it a special meaning.
# Python does neither if the name ends with this suffix.
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
    """Return the name of a parameter. A name with a capital letter first could hide a class."""
    plain = name.lstrip("_")
    if not plain[:1].isalpha():
        plain = f"value{plain}"
    return _behind(plain, _PARAMETERS, is_taken=plain[0].isupper())


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with trailing underscores until it is not in `taken`."""
    while name in taken:
        name += "_"
    return name


def _behind(name: str, taken: Collection[str], *, is_taken: bool = False) -> str:
    if name.startswith("__"):
        return name + _AFTER_DUNDER
    plain = name.rstrip("_")
    return f"{name}_" if is_taken or iskeyword(plain) or plain in taken else name
