"""Event filters in disjunctive form: an OR of terms, each of which is an AND of literals.

The filters correspond to `EventFilter` of `sui.rpc.v2`. `matches` applies a filter to an event in
memory. `select_events` applies a filter to the database, with the `columns` of each predicate.
"""

from typing import Any, ClassVar

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, vector
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag

TYPE_PARAMS: Codec[tuple[TypeTag, ...]] = vector(TYPE_TAG)


class SentBy(Struct, frozen=True):
    """Events of transactions from this sender."""

    index: ClassVar = ("sender",)

    sender: Address

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return event.sender == self.sender

    def columns(self) -> dict[str, Any]:
        """Return the columns of `events` with required values, starting with those of `index`."""
        return {"sender": self.sender}


class EmittedBy(Struct, frozen=True):
    """Events that were emitted in this module, or anywhere in the package."""

    index: ClassVar = ("package", "module")

    package: Address
    module: str | None = None

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return event.package == self.package and self.module in (None, event.module)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `events` with required values, starting with those of `index`."""
        return _present({"package": self.package, "module": self.module})


class HasType(Struct, frozen=True):
    """Events of a type. Trailing fields that are None match anything.

    If `type_params` is not None, only this instantiation matches. `()` matches a type without type
    arguments.
    """

    index: ClassVar = ("type_address", "type_module", "type_name")

    address: Address
    module: str | None = None
    name: str | None = None
    type_params: tuple[TypeTag, ...] | None = None

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        tag = event.type
        return (
            tag.address == self.address
            and self.module in (None, tag.module)
            and self.name in (None, tag.name)
            and self.type_params in (None, tag.type_params)
        )

    def columns(self) -> dict[str, Any]:
        """Return the columns of `events` with required values, starting with those of `index`."""
        params = None if self.type_params is None else TYPE_PARAMS.encode(self.type_params)
        return _present(
            {
                "type_address": self.address,
                "type_module": self.module,
                "type_name": self.name,
                "type_params": params,
            }
        )


def _present(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if value is not None}


EventPredicate = SentBy | EmittedBy | HasType


class EventLiteral(Struct, frozen=True):
    """A predicate, or its negation."""

    predicate: EventPredicate
    negated: bool = False

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return self.predicate.matches(event) != self.negated


EventFilter = tuple[tuple[EventLiteral, ...], ...]
"""The terms of a filter. An event passes if all literals of at least one term match it."""


def matches(event_filter: EventFilter | None, event: Event) -> bool:
    """Return whether an event passes the filter. Without a filter, every event passes."""
    if event_filter is None:
        return True
    return any(all(literal.matches(event) for literal in term) for term in event_filter)
