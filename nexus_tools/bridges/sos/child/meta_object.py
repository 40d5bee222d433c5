"""`MetaObject`: a dictionary whose members are also attributes, the element of a context."""

from __future__ import annotations

from typing import Any


class MetaObject(dict[str, Any]):
    """A node of a context. Calling a node with a context runs it as an action or an action list."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def has(self, name: str) -> bool:
        """Return whether the member exists."""
        return name in self

    def __call__(self, context: Any) -> Any:
        """Run this part as an action or a list of actions in a context."""
        return context.run(self)


class MetaConfig(MetaObject):
    """A node of a configuration."""


def to_meta_objects(value: Any) -> Any:
    """Return the value with every plain dictionary converted to a `MetaObject`."""
    if isinstance(value, dict):
        kind = type(value) if isinstance(value, MetaObject) else MetaObject
        return kind({key: to_meta_objects(member) for key, member in value.items()})
    if isinstance(value, list):
        return [to_meta_objects(member) for member in value]
    return value
