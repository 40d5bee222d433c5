"""Which events are asked for: a disjunction of conjunctions of predicates, each perhaps negated.

Source: `EventFilter` of `sui.rpc.v2`. A filter is applied to one event in hand (`matches`) or given
to the durable log as a condition (`condition`).
"""

from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import Codec, vector
from nexus_tools.sui.event import Event
from nexus_tools.sui.type_tag import TYPE_TAG, TypeTag

TYPE_PARAMS: Codec[tuple[TypeTag, ...]] = vector(TYPE_TAG)

Condition = tuple[str, list[Any]]
"""A condition on a row of `events`, and its parameters."""


@dataclass(frozen=True, slots=True)
class SentBy:
    """Events of transactions that this address sent."""

    sender: Address

    def matches(self, event: Event) -> bool:
        """Whether the event is one of them."""
        return event.sender == self.sender

    def condition(self) -> Condition:
        """The same in the durable log."""
        return "sender = ?", [self.sender]


@dataclass(frozen=True, slots=True)
class EmittedBy:
    """Events that were emitted in this module, or anywhere in the package."""

    package: Address
    module: str | None = None

    def matches(self, event: Event) -> bool:
        """Whether the event is one of them."""
        return event.package == self.package and self.module in (None, event.module)

    def condition(self) -> Condition:
        """The same in the durable log."""
        return _all_equal({"package": self.package, "module": self.module})


@dataclass(frozen=True, slots=True)
class HasType:
    """Events of a type; what is None, from the right, may be anything.

    `type_params` are those of exactly one instantiation, `()` included.
    """

    address: Address
    module: str | None = None
    name: str | None = None
    type_params: tuple[TypeTag, ...] | None = None

    def matches(self, event: Event) -> bool:
        """Whether the event is one of them."""
        tag = event.type
        return (
            tag.address == self.address
            and self.module in (None, tag.module)
            and self.name in (None, tag.name)
            and self.type_params in (None, tag.type_params)
        )

    def condition(self) -> Condition:
        """The same in the durable log."""
        params = None if self.type_params is None else TYPE_PARAMS.encode(self.type_params)
        return _all_equal(
            {
                "type_address": self.address,
                "type_module": self.module,
                "type_name": self.name,
                "type_params": params,
            }
        )


@dataclass(frozen=True, slots=True)
class EventLiteral:
    """A predicate, or its negation."""

    predicate: SentBy | EmittedBy | HasType
    negated: bool = False

    def matches(self, event: Event) -> bool:
        """Whether the event is one of those meant."""
        return self.predicate.matches(event) != self.negated

    def condition(self) -> Condition:
        """The same in the durable log."""
        text, parameters = self.predicate.condition()
        return f"{'NOT ' if self.negated else ''}({text})", parameters


EventFilter = tuple[tuple[EventLiteral, ...], ...]
"""Terms of which one must hold, with all its literals."""


def matches(event_filter: EventFilter | None, event: Event) -> bool:
    """Whether an event passes; without a filter each one does."""
    if event_filter is None:
        return True
    return any(all(literal.matches(event) for literal in term) for term in event_filter)


def condition(event_filter: EventFilter | None) -> Condition:
    """The filter as a condition on a row of `events`."""
    if event_filter is None:
        return "1", []
    terms, parameters = [], []
    for term in event_filter:
        parts = [literal.condition() for literal in term]
        terms.append(" AND ".join(text for text, _ in parts) or "1")
        parameters += [value for _, values in parts for value in values]
    return " OR ".join(f"({term})" for term in terms) or "0", parameters


def _all_equal(columns: dict[str, Any]) -> Condition:
    given = {name: value for name, value in columns.items() if value is not None}
    return " AND ".join(f"{name} = ?" for name in given), list(given.values())
