"""`MetaObject`: a dictionary whose members are attributes too, as a context is made of them."""

from __future__ import annotations

from typing import Any


class MetaObject(dict[str, Any]):
    """Any part of a context; called with a context, it runs there as an action or a list."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return name in self

    def __call__(self, context: Any) -> Any:
        """Run it, in a context."""
        return context.run(self)


class MetaConfig(MetaObject):
    """A part of a configuration."""


def as_objects(value: Any) -> Any:
    """The value, every plain dictionary in it made a `MetaObject`."""
    if isinstance(value, dict):
        kind = type(value) if isinstance(value, MetaObject) else MetaObject
        return kind({key: as_objects(member) for key, member in value.items()})
    if isinstance(value, list):
        return [as_objects(member) for member in value]
    return value
