"""Names that a room offers, and imports when they are first asked for."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def late_names(
    room: str, namespace: dict[str, Any], homes: Mapping[str, Sequence[str]]
) -> Callable[[str], Any]:
    """The `__getattr__` of a room: `homes` has the names by the module of the room they are in.

    A name becomes an attribute in `namespace`, the room's `globals()`, once it is asked for. Type
    checkers see the imports that the room has for them.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = namespace[name] = getattr(import_module(f"{room}.{home_of[name]}"), name)
        return value

    return get
