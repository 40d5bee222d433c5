"""Calls of framework functions before the ledger has a checkpoint.

The created objects have no previous transaction yet.
"""

from collections.abc import Iterator, Sequence

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.natives import (
    UNMETERED_LIMITS,
    NativeGas,
    ObjectRuntime,
    TransactionContext,
)
from nexus_tools.sui.localnet.vm import Context, Machine, Meter, Reference, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, ZERO, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import MoveObject, ObjectOwner, Owner, Shared
from nexus_tools.sui.types.system_transaction import GenesisObject
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

_UNMETERED = 1 << 62
_FIRST_VERSION = 1
_NOT_YET_SHARED = Shared(0)  # the genesis transaction replaces this placeholder version


class _FoundingRuntime(ObjectRuntime):
    """An object runtime that allows shared objects with fixed IDs, because every object is new."""

    def may_be_shared(self, object_id: Address) -> bool:  # noqa: ARG002
        return True


class GenesisCalls:
    """Function calls with sender 0x0. Each call sees the objects that earlier calls created."""

    def __init__(self, machine: Machine, seed: Digest, timestamp_ms: int) -> None:
        transaction = TransactionContext(
            sender=ZERO,
            digest=seed,
            epoch=0,
            epoch_timestamp_ms=timestamp_ms,
            reference_gas_price=1,
            gas_price=1,
            gas_budget=0,
            sponsor=None,
        )
        self._machine = machine
        self._runtime = _FoundingRuntime(
            transaction,
            {},
            lambda _object_id: None,
            machine.types.decode,
            NativeGas(_UNMETERED),
            limits=UNMETERED_LIMITS,
        )
        self._context = Context(machine.types, Meter(_UNMETERED), self._runtime)

    def call(
        self,
        module: str,
        name: str,
        *arguments: Value,
        types: Sequence[TypeTag] = (),
        package: Address = SUI_FRAMEWORK,
    ) -> list[Value]:
        """Call a function and return its results.

        If the last parameter of the function is a `TxContext`, omit that argument.
        """
        function = self._machine.types.function(package, module, name)
        assert function is not None
        values = list(arguments)
        if len(values) < len(function.parameters):
            values.append(Reference([self._runtime.transaction.as_move_value()], 0))
        return self._machine.call(function, types, values, self._context)

    def objects(self) -> Iterator[GenesisObject]:
        """Yield all objects that the calls have created."""
        for transfer in self._runtime.transfers.values():
            yield self._object(transfer.owner, transfer.type, transfer.value)
        for _, child in self._runtime.children.used():
            if child.cell:
                yield self._object(ObjectOwner(child.parent), child.type, child.cell[0])

    def _object(self, owner: Owner, tag: StructTag, value: Value) -> GenesisObject:
        public = bool(self._machine.types.abilities(tag) & Ability.STORE)
        contents = self._machine.types.encode(tag, value)
        owner = _NOT_YET_SHARED if isinstance(owner, Shared) else owner
        return GenesisObject(MoveObject(tag, public, _FIRST_VERSION, contents), owner)
