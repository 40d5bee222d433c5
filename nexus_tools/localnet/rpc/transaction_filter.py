"""Filters of transactions, as clients send them (`sui.rpc.v2.TransactionFilter`)."""

from collections.abc import Callable

from nexus_tools.localnet.ledger import ExecutedTransaction
from nexus_tools.localnet.rpc.event_filter import EVENT_PREDICATES, check_size, path_of
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.request_fields import address, parsed, required
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.effects import AccumulatorWrite, InputState, ObjectWrite, PackageWrite
from nexus_tools.sui.object import AddressOwner, ConsensusAddressOwner, Owner
from nexus_tools.sui.transaction import (
    MoveCall,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
)

Predicate = Callable[[ExecutedTransaction], bool]


def parse_transaction_filter(request: Message) -> Predicate | None:
    """The filter of a request; None if it has none. Raises `RpcError`."""
    if not request.HasField("filter"):
        return None
    check_size(request.filter)
    terms = [[_literal(literal) for literal in term.literals] for term in request.filter.terms]
    return lambda executed: any(all(holds(executed) for holds in term) for term in terms)


def _literal(literal: Message) -> Predicate:
    name = literal.WhichOneof("predicate")
    if name is None:
        raise invalid("invalid filter.terms.literals: predicate variant is required")
    parse = _PREDICATES.get(name)
    if parse is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this local network does not filter by {name}")
    holds = parse(getattr(literal, name))
    return (lambda executed: not holds(executed)) if literal.negated else holds


def _sender(found: Message) -> Predicate:
    sender = address(found, "address")
    return lambda executed: executed.data.sender == sender


def _affected_address(found: Message) -> Predicate:
    wanted = address(found, "address")

    def holds(executed: ExecutedTransaction) -> bool:
        if wanted in (executed.data.sender, executed.data.gas.owner):
            return True
        if any(_owning_address(owner) == wanted for owner in _owners(executed)):
            return True
        changes = (change.output for _, change in executed.effects.changed_objects)
        return any(
            isinstance(write, AccumulatorWrite) and write.address == wanted for write in changes
        )

    return holds


def _owners(executed: ExecutedTransaction) -> list[Owner]:
    """Owners of changed objects, before and after."""
    owners: list[Owner] = []
    for _, change in executed.effects.changed_objects:
        if isinstance(change.input, InputState):
            owners.append(change.input.owner)
        if isinstance(change.output, ObjectWrite):
            owners.append(change.output.owner)
    return owners


def _owning_address(owner: Owner) -> Address | None:
    return owner.address if isinstance(owner, AddressOwner | ConsensusAddressOwner) else None


def _affected_object(found: Message) -> Predicate:
    wanted = address(found, "object_id")
    return lambda executed: any(
        changed == wanted for changed, _ in executed.effects.changed_objects
    )


def _move_call(found: Message) -> Predicate:
    package, *names = path_of(required(found, "function"), "move_call", 3)
    wanted = (parsed("move_call", package, Address.parse), *names)

    def holds(executed: ExecutedTransaction) -> bool:
        kind = executed.data.kind
        programmable = ProgrammableTransaction | ProgrammableSystemTransaction
        commands = kind.commands if isinstance(kind, programmable) else ()
        calls = (command for command in commands if isinstance(command, MoveCall))
        return any(
            (call.package, call.module, call.function)[: len(wanted)] == wanted for call in calls
        )

    return holds


def _any_event(name: str) -> Callable[[Message], Predicate]:
    def parse(found: Message) -> Predicate:
        predicate = EVENT_PREDICATES[name](found)
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
