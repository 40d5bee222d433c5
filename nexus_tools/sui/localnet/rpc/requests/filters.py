"""The parsing of event and transaction filters in requests.

A filter is a disjunction of terms, and a term is a conjunction of literals
(`sui.rpc.v2.{EventFilter,TransactionFilter}`).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from nexus_tools.sui.localnet.ledger import (
    EmittedBy,
    EventFilter,
    EventLiteral,
    EventPredicate,
    ExecutedTransaction,
    HasType,
    SentBy,
)
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError, invalid
from nexus_tools.sui.localnet.rpc.requests.fields import address, parsed, required
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import AccumulatorWrite, InputState, ObjectWrite, PackageWrite
from nexus_tools.sui.types.object import AddressOwner, ConsensusAddressOwner, Owner
from nexus_tools.sui.types.transaction import (
    MoveCall,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
)
from nexus_tools.sui.types.type_tag import parse_struct_tag

T = TypeVar("T")

MAX_LITERALS = 64

Predicate = Callable[[ExecutedTransaction], bool]


class TransactionLiteral(Struct, frozen=True):
    """A predicate on transactions, or its negation.

    `affected_object` is the object that each matching transaction changed, or None.
    """

    predicate: Predicate
    negated: bool = False
    affected_object: Address | None = None

    def matches(self, executed: ExecutedTransaction) -> bool:
        """Return whether a transaction matches."""
        return self.predicate(executed) != self.negated


class TransactionFilter(Struct, frozen=True):
    """The terms of a filter. A transaction passes if all literals of at least one term match it."""

    terms: tuple[tuple[TransactionLiteral, ...], ...]

    def matches(self, executed: ExecutedTransaction) -> bool:
        """Return whether a transaction passes the filter."""
        return any(all(literal.matches(executed) for literal in term) for term in self.terms)

    @property
    def affected_objects(self) -> frozenset[Address] | None:
        """Objects of which each passing transaction changed at least one, or None if unknown."""
        ids = [
            next((literal.affected_object for literal in term if literal.affected_object), None)
            for term in self.terms
        ]
        known = frozenset(object_id for object_id in ids if object_id is not None)
        return None if None in ids else known


def parse_event_filter(request: Message) -> EventFilter | None:
    """Return the filter of a request, or None.

    Raises:
        RpcError: The filter is invalid.
    """
    if not request.HasField("filter"):
        return None
    _check_size(request.filter)
    terms = request.filter.terms
    return tuple(tuple(_event_literal(literal) for literal in term.literals) for term in terms)


def _event_literal(literal: Message) -> EventLiteral:
    return EventLiteral(_predicate(literal, _EVENT_PREDICATES), literal.negated)


def parse_transaction_filter(request: Message) -> TransactionFilter | None:
    """Return the filter of a request, or None.

    Raises:
        RpcError: The filter is invalid.
    """
    if not request.HasField("filter"):
        return None
    _check_size(request.filter)
    terms = request.filter.terms
    return TransactionFilter(
        tuple(tuple(_transaction_literal(literal) for literal in term.literals) for term in terms)
    )


def _transaction_literal(literal: Message) -> TransactionLiteral:
    predicate = _predicate(literal, _PREDICATES)
    affected = None
    if literal.HasField("affected_object") and not literal.negated:
        affected = address(literal.affected_object, "object_id")
    return TransactionLiteral(predicate, literal.negated, affected)


def _check_size(message: Message) -> None:
    """Raise an error if a filter has no terms, or too many literals."""
    if not message.terms:
        raise invalid("invalid filter.terms: at least one filter term is required")
    count = sum(len(term.literals) for term in message.terms)
    if count > MAX_LITERALS:
        raise invalid(f"filter contains {count} literals; at most {MAX_LITERALS} are allowed")


def _predicate(literal: Message, parsers: Mapping[str, Callable[[Message], T]]) -> T:
    """Return the parsed predicate of a literal."""
    name = literal.WhichOneof("predicate")
    if name is None:
        raise invalid("invalid filter.terms.literals: predicate variant is required")
    parse = parsers.get(name)
    if parse is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this localnet does not filter by {name}")
    return parse(getattr(literal, name))


# --- Events


def _sent_by(message: Message) -> SentBy:
    return SentBy(address(message, "address"))


def _emit_module(message: Message) -> EmittedBy:
    package, *module = _path_of(required(message, "module"), "emit_module", 2)
    return EmittedBy(parsed("emit_module", package, Address.parse), *module)


def _event_type(message: Message) -> HasType:
    text = required(message, "event_type")
    if "<" in text:
        tag = parsed("event_type", text, parse_struct_tag)
        return HasType(tag.address, tag.module, tag.name, tag.type_params)
    package, *names = _path_of(text, "event_type", 3)
    # `0x2::coin` matches all types of that module. `0x2::coin::CoinCreated` matches the type with
    # any type arguments. A name with type arguments in `<...>` matches only that exact type.
    module, name = (*names, None, None)[:2]
    return HasType(parsed("event_type", package, Address.parse), module, name)


def _path_of(text: str, name: str, longest: int) -> list[str]:
    """Split a path such as `package::module` into its parts.

    Raises:
        RpcError: the number of parts is wrong, or a part is empty.
    """
    parts = text.split("::")
    if len(parts) > longest or not all(parts):
        raise invalid(f"invalid {name}: expected 1 to {longest} parts, got {text[:200]!r}")
    return parts


_EVENT_PREDICATES: dict[str, Callable[[Message], EventPredicate]] = {
    "sender": _sent_by,
    "emit_module": _emit_module,
    "event_type": _event_type,
}


# --- Transactions


def _sender(message: Message) -> Predicate:
    sender = address(message, "address")
    return lambda executed: executed.data.sender == sender


def _affected_address(message: Message) -> Predicate:
    affected = address(message, "address")

    def holds(executed: ExecutedTransaction) -> bool:
        if affected in (executed.data.sender, executed.data.gas.owner):
            return True
        if any(_owning_address(owner) == affected for owner in _owners(executed)):
            return True
        changes = (change.output for _, change in executed.effects.changed_objects)
        return any(
            isinstance(write, AccumulatorWrite) and write.address == affected for write in changes
        )

    return holds


def _owners(executed: ExecutedTransaction) -> list[Owner]:
    """Return the owners of the changed objects, both before and after the transaction."""
    owners: list[Owner] = []
    for _, change in executed.effects.changed_objects:
        if isinstance(change.input, InputState):
            owners.append(change.input.owner)
        if isinstance(change.output, ObjectWrite):
            owners.append(change.output.owner)
    return owners


def _owning_address(owner: Owner) -> Address | None:
    return owner.address if isinstance(owner, AddressOwner | ConsensusAddressOwner) else None


def _affected_object(message: Message) -> Predicate:
    affected = address(message, "object_id")
    return lambda executed: any(
        object_id == affected for object_id, _ in executed.effects.changed_objects
    )


def _move_call(message: Message) -> Predicate:
    package, *names = _path_of(required(message, "function"), "move_call", 3)
    called = (parsed("move_call", package, Address.parse), *names)

    def holds(executed: ExecutedTransaction) -> bool:
        kind = executed.data.kind
        programmable = ProgrammableTransaction | ProgrammableSystemTransaction
        commands = kind.commands if isinstance(kind, programmable) else ()
        calls = (command for command in commands if isinstance(command, MoveCall))
        return any(
            (call.package, call.module, call.function)[: len(called)] == called for call in calls
        )

    return holds


def _any_event(name: str) -> Callable[[Message], Predicate]:
    def parse(message: Message) -> Predicate:
        predicate = _EVENT_PREDICATES[name](message)
        return lambda executed: any(predicate.matches(event) for event in executed.events)

    return parse


def _package_write(_: Message) -> Predicate:
    return lambda executed: any(
        isinstance(change.output, PackageWrite) for _, change in executed.effects.changed_objects
    )


_PREDICATES: dict[str, Callable[[Message], Predicate]] = {
    "sender": _sender,
    "affected_address": _affected_address,
    "affected_object": _affected_object,
    "move_call": _move_call,
    "emit_module": _any_event("emit_module"),
    "event_type": _any_event("event_type"),
    "package_write": _package_write,
}
