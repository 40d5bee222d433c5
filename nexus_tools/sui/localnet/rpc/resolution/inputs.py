"""Inputs with only a part of their fields."""

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
    """A resolver of one transaction's inputs, with the current objects.

    Methods raise `RpcError`: NOT_FOUND for missing objects, otherwise INVALID_ARGUMENT.
    """

    def __init__(self, node: Node, commands: tuple[Command, ...]) -> None:
        self._node = node
        self._functions = CalledFunctions(node, commands)
        self._uses = Uses(commands)

    def resolve(self, inputs: Sequence[Message]) -> tuple[Input, ...]:
        """Return all inputs, each resolved by its kind or its fields."""
        # The limit is also checked here, because each object costs a digest.
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
        """Return an input from BCS bytes."""
        return Pure(message.pure)

    def literal(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return a pure input of the type that its uses require."""
        return Pure(resolve_literal(message.literal, uses, self._functions))

    def object(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return an input for any object, depending on its owner and its uses."""
        value = find_object(self._node, message)
        return resolve_object(value, message, uses, self._functions)

    def owned(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input for an owned or immutable object."""
        return OwnedObject(resolve_reference(find_object(self._node, message), message))

    def receiving(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input for an object to receive."""
        return ReceivingObject(resolve_reference(find_object(self._node, message), message))

    def shared(self, message: Message, uses: tuple[Use, ...]) -> Input:
        """Return an input for a shared object, with its version and mutability."""
        return resolve_shared(find_object(self._node, message), uses, self._functions)

    def withdrawal(self, message: Message, _uses: tuple[Use, ...]) -> Input:
        """Return an input that withdraws from an address balance."""
        return parse_withdrawal(message)


_Resolve = Callable[[InputResolver, Message, tuple[Use, ...]], Input]

# The keys are an input's kind and one field. The values start with the other allowed fields.
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
