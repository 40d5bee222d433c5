"""The resolution of inputs that have only a part of their fields."""

from collections.abc import Callable, Sequence

from nexus_tools.sui.localnet.execution import MAX_INPUT_OBJECTS
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import InputKind, invalid
from nexus_tools.sui.localnet.rpc.requests import parse_withdrawal
from nexus_tools.sui.localnet.rpc.resolution.literals import resolve_literal
from nexus_tools.sui.localnet.rpc.resolution.objects import (
    find_object,
    resolve_object,
    resolve_reference,
    resolve_shared,
    too_large,
)
from nexus_tools.sui.localnet.rpc.resolution.uses import CalledFunctions, Use, Uses
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.transaction import Command, Input, OwnedObject, Pure, ReceivingObject

_ALONE: frozenset[str] = frozenset()
_REFERENCE = frozenset({"version", "digest"})
_MUTABLE = frozenset({"mutable"})
_NOT_READ = frozenset({"kind", "mutability"})


class InputResolver:
    """A resolver of one transaction's inputs, which uses the network's current objects.

    The methods raise `RpcError`, with NOT_FOUND for a missing object and INVALID_ARGUMENT
    otherwise.
    """

    def __init__(self, node: Node, commands: tuple[Command, ...]) -> None:
        self._node = node
        self._functions = CalledFunctions(node, commands)
        self._uses = Uses(commands)

    def resolve(self, inputs: Sequence[Message]) -> tuple[Input, ...]:
        """Return the resolved inputs.

        The kind of an input determines how to resolve the input. If the kind is missing, the fields
        of the input determine how to resolve it.
        """
        # Check the limit here too, because the server computes a digest for each object.
        if sum(message.HasField("object_id") for message in inputs) > MAX_INPUT_OBJECTS:
            raise too_large("maximum input + receiving objects in a transaction", MAX_INPUT_OBJECTS)
        return tuple(self._input(index, message) for index, message in enumerate(inputs))

    def _input(self, index: int, message: Message) -> Input:
        kind = message.kind if message.HasField("kind") else None
        fields = {field.name for field, _ in message.ListFields()} - _NOT_READ
        for name in fields:
            others, resolve = _RESOLVERS.get((kind, name), _NOTHING)
            if resolve is not None and fields - {name} <= others:
                return resolve(self, message, self._uses.of(index))
        raise invalid("invalid unresolved input argument")

    def pure(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return a pure input with the given BCS bytes."""
        return Pure(message.pure)

    def literal(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return a pure input for a literal, whose uses determine its type."""
        return Pure(resolve_literal(message.literal, uses, self._functions))

    def object(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return an input for an object, whose owner and uses determine the kind of input."""
        value = find_object(self._node, message)
        return resolve_object(value, message, uses, self._functions)

    def owned(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input for an owned or immutable object."""
        return OwnedObject(resolve_reference(find_object(self._node, message), message))

    def receiving(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input for an object that the transaction receives."""
        return ReceivingObject(resolve_reference(find_object(self._node, message), message))

    def shared(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return an input for a shared object, with its version and mutability."""
        return resolve_shared(find_object(self._node, message), uses, self._functions)

    def withdrawal(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input that withdraws from an address balance."""
        return parse_withdrawal(message)


_Resolve = Callable[[InputResolver, Message, tuple[Use, ...]], Input]

# A key consists of an input's kind and one of its fields. A value consists of the other allowed
# fields, and the method that resolves the input.
_RESOLVERS: dict[tuple[int | None, str], tuple[frozenset[str], _Resolve]] = {
    (InputKind.PURE, "pure"): (_ALONE, InputResolver.pure),
    (None, "pure"): (_ALONE, InputResolver.pure),
    (None, "literal"): (_ALONE, InputResolver.literal),
    (None, "object_id"): (_REFERENCE | _MUTABLE, InputResolver.object),
    (InputKind.IMMUTABLE_OR_OWNED, "object_id"): (_REFERENCE, InputResolver.owned),
    (InputKind.SHARED, "object_id"): (frozenset({"version"}) | _MUTABLE, InputResolver.shared),
    (InputKind.RECEIVING, "object_id"): (_REFERENCE, InputResolver.receiving),
    (InputKind.FUNDS_WITHDRAWAL, "funds_withdrawal"): (_ALONE, InputResolver.withdrawal),
}
_NOTHING: tuple[frozenset[str], _Resolve | None] = (_ALONE, None)
