"""Dataclasses whose methods are made when a class is first used.

For each class `dataclasses.dataclass` compiles half a dozen methods: 0.4 ms in Python 3.11. A
program that defines two hundred values, and needs half of them to begin, does not wait for the
others.
"""

import dataclasses
from collections.abc import Callable
from inspect import get_annotations
from itertools import chain
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

_Class = TypeVar("_Class", bound=type)

_FIELDS = "__dataclass_fields__"
_OF_EACH_CLASS = ("__dict__", "__weakref__")
_one_at_a_time = RLock()

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, slots: bool, **options: bool) -> Callable[[_Class], _Class]:
        """As `dataclasses.dataclass`, for a class with slots.

        `__match_args__` is there at once; all else with its first value or subclass, or when
        somebody looks at its fields.
        """
        assert slots
        return lambda cls: _late(cls, options)


class _LateFields:
    """What a class has in place of its fields as long as its methods are not made."""

    def __init__(self, make: Callable[[], None]) -> None:
        self._make = make

    def __get__(self, _: object, owner: type) -> Any:
        self._make()
        return getattr(owner, _FIELDS)


def _late(cls: type, options: dict[str, bool]) -> type:
    """A class with slots, which takes over the methods that `dataclasses` makes for `cls`."""

    def make() -> None:
        with _one_at_a_time:
            if isinstance(vars(slotted)[_FIELDS], _LateFields):
                _take_over(dataclasses.dataclass(**options)(cls), slotted)

    def make_and_begin(self: Any, *args: Any, **kwargs: Any) -> None:
        make()
        slotted.__init__(self, *args, **kwargs)  # type: ignore[misc]  # it is another one now

    names = {**vars(cls), _FIELDS: _LateFields(make), "__init__": make_and_begin}
    if options.get("frozen"):  # the usual way to copy and to pickle sets attributes
        names = {"__getstate__": _state, "__setstate__": _set_state, **names}
    slotted = _with_slots(cls, names)
    return slotted


def _take_over(made: type, slotted: type) -> None:
    """Last comes `__init__`: who has a value can use all of its methods."""
    for name, value in vars(made).items():
        if name.startswith("__") and name not in (*_OF_EACH_CLASS, "__init__"):
            setattr(slotted, name, value)
    slotted.__init__ = made.__init__  # type: ignore[misc]


def _with_slots(cls: type, names: dict[str, Any]) -> type:
    """The class anew, with these names: what has slots is decided when a class is made."""
    own = get_annotations(cls)
    defaults = {name: names.pop(name) for name in own if name in names}
    bases = cls.__mro__[1:-1]
    inherited = set(chain.from_iterable(getattr(base, "__slots__", ()) for base in bases))
    names["__slots__"] = tuple(name for name in own if name not in inherited)
    arguments = dict.fromkeys((*getattr(cls, "__match_args__", ()), *own))
    names["__match_args__"] = tuple(n for n in arguments if _is_argument(defaults.get(n)))
    for name in _OF_EACH_CLASS:
        names.pop(name, None)
    slotted = type(cls)(cls.__name__, cls.__bases__, names)
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _is_argument(default: object) -> bool:
    return not isinstance(default, dataclasses.Field) or default.init


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
