"""The loading of a transaction's objects, and the check that its sender may use them.

Source: `sui-transaction-checks/src/lib.rs`. The packages to which commands refer are also inputs.
"""

from collections.abc import Iterator

from msgspec import Struct

from nexus_tools.sui.localnet.execution.environment import DigestCache, Mode, ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs.ownership import check_owner, wrong_owner
from nexus_tools.sui.types.address import (
    ACCUMULATOR_ROOT,
    AUTHENTICATOR_STATE,
    CLOCK,
    RANDOM,
    ZERO,
    Address,
)
from nexus_tools.sui.types.address_balance import is_coin_reservation
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    MoveObject,
    MovePackage,
    Object,
    ObjectReference,
    Shared,
)
from nexus_tools.sui.types.transaction import (
    Command,
    Input,
    MoveCall,
    OwnedObject,
    ProgrammableTransaction,
    Publish,
    ReceivingObject,
    SharedObject,
    TransactionData,
    Upgrade,
)

_OBJECTS = (OwnedObject, SharedObject, ReceivingObject)
_INACCESSIBLE = frozenset({AUTHENTICATOR_STATE, ACCUMULATOR_ROOT})
_ONLY_READ = frozenset({CLOCK, RANDOM})


class InputObject(Struct, frozen=True):
    """An input object of a transaction. If `mutable` is set, commands may change the object.

    A mutable object gets a new version, unless `exclusive` is false. Only a shared object can be
    used without exclusive access.
    """

    object: Object
    mutable: bool
    exclusive: bool = True

    @property
    def is_written(self) -> bool:
        """Whether the transaction writes a new version of the object."""
        return self.mutable and self.exclusive

    @property
    def is_consensus_object(self) -> bool:
        """Whether consensus orders the uses of the object (shared or owned through consensus)."""
        return isinstance(self.object.owner, Shared | ConsensusAddressOwner)


class TransactionInputs(Struct, frozen=True):
    """All inputs of a transaction: objects including gas coins, packages, and received objects."""

    objects: dict[Address, InputObject]
    gas: tuple[Object, ...]
    packages: tuple[Object, ...]
    receiving: tuple[ObjectReference, ...]

    @property
    def lamport_version(self) -> int:
        """The version of all written objects, which is one more than the highest input version."""
        # For example, inputs with versions 3 and 8 are both written as version 9. So if two
        # transactions share an object, versions show which of the two came later.
        versions = [value.object.version for value in self.objects.values()]
        versions.extend(reference.version for reference in self.receiving)
        return max(versions, default=0) + 1


class InputLoader:
    """The loader of one transaction's inputs from a store. Methods raise `TransactionRefused`."""

    def __init__(
        self, data: TransactionData, store: ObjectStore, digests: DigestCache, mode: Mode
    ) -> None:
        self._data = data
        self._store = store
        self._digests = digests
        self._mode = mode

    def load(self, gas: tuple[Object, ...] | None = None) -> TransactionInputs:
        """Return the inputs. `gas` replaces the gas coins of the transaction."""
        kind = self._data.kind
        assert isinstance(kind, ProgrammableTransaction)
        object_ids = [value.object_id for value in kind.inputs if isinstance(value, _OBJECTS)]
        if len(set(object_ids)) != len(object_ids):
            raise TransactionRefused(
                "duplicate_object_ref_input",
                "The transaction inputs contain duplicated ObjectRef's",
            )
        objects = {}
        for value in kind.inputs:
            if isinstance(value, OwnedObject):
                objects[value.reference.object_id] = self._owned(value.reference, self._data.sender)
            elif isinstance(value, SharedObject):
                objects[value.object_id] = self._shared(value)
        packages = tuple(self._package(package) for package in _packages(kind.commands))
        coins = tuple(self._gas_coins()) if gas is None else gas
        for coin in coins:
            if coin.id in objects:
                raise _used_twice(coin.id)
            objects[coin.id] = InputObject(coin, mutable=True)
        receiving = tuple(self._receiving(kind.inputs))
        return TransactionInputs(objects, coins, packages, receiving)

    def _gas_coins(self) -> Iterator[Object]:
        coin_ids = set()
        payment = self._data.gas.payment
        for reference in (entry for entry in payment if not is_coin_reservation(entry)):
            if reference.object_id in coin_ids:
                raise _used_twice(reference.object_id)
            coin_ids.add(reference.object_id)
            yield self._owned(reference, self._data.gas.owner).object

    def _owned(self, reference: ObjectReference, sender: Address) -> InputObject:
        value = self._at(reference)
        owner = value.owner
        if not isinstance(value.data, MoveObject):
            raise TransactionRefused(
                "move_package_as_object",
                f"A move object is expected, instead a move package is passed: {value.id}",
            )
        if self._mode is not Mode.INSPECT:
            check_owner(value, sender)
        return InputObject(value, mutable=not isinstance(owner, Immutable))

    def _at(self, reference: ObjectReference) -> Object:
        """Return the live object, which must have the version and digest of the reference.

        In mode INSPECT, the version may be an old version, and the digest is not checked.
        """
        value = self._store.get(reference.object_id)
        if self._mode is Mode.INSPECT:
            value = self._store.get_version(reference.object_id, reference.version) or value
        if value is None:
            raise _not_found(reference.object_id, reference.version)
        if value.version != reference.version:
            raise TransactionRefused(
                "object_version_unavailable_for_consumption",
                f"Object {_describe(reference)} is not available for consumption, its current"
                f" version: SequenceNumber({value.version})",
                details={"object_id": str(value.id), "current_version": value.version},
            )
        digest = self._digests.of(value)
        if digest != reference.digest and self._mode is not Mode.INSPECT:
            raise TransactionRefused(
                "invalid_object_digest",
                f"Invalid Object digest for object {value.id}. Expected digest : {digest}",
            )
        return value

    def _shared(self, argument: SharedObject) -> InputObject:
        self._check_system_object(argument)
        value = self._store.get(argument.object_id)
        if value is None:
            raise _not_found(argument.object_id, None)
        owner = value.owner
        if isinstance(owner, Shared):
            start = owner.initial_version
        elif isinstance(owner, ConsensusAddressOwner):
            start = owner.start_version
            if owner.address != self._data.sender and self._mode is not Mode.INSPECT:
                raise wrong_owner(value.id, owner.address, self._data.sender)
        elif self._mode is Mode.INSPECT and isinstance(value.data, MoveObject):
            return InputObject(value, mutable=argument.mutable)
        else:
            raise TransactionRefused(
                "not_shared_object_error", "Object used as shared is not shared"
            )
        if start != argument.initial_version:
            raise TransactionRefused(
                "shared_object_starting_version_mismatch",
                "Wrong initial version given for shared object",
            )
        return InputObject(value, mutable=argument.mutable, exclusive=argument.exclusive)

    def _check_system_object(self, argument: SharedObject) -> None:
        if self._mode in (Mode.SYSTEM, Mode.INSPECT):
            return
        if argument.object_id in _INACCESSIBLE:
            raise TransactionRefused(
                "inaccessible_system_object",
                f"Object {argument.object_id} is a system object and cannot be accessed by user"
                " transactions",
            )
        if argument.object_id in _ONLY_READ and argument.mutable:
            raise TransactionRefused(
                "immutable_parameter_expected_error",
                "Mutable parameter provided, immutable parameter expected",
            )

    def _package(self, package: Address) -> Object:
        value = self._store.get(package)
        if value is None:
            raise TransactionRefused(
                "dependent_package_not_found", f"Dependent package not found on-chain: {package}"
            )
        if not isinstance(value.data, MovePackage):
            raise TransactionRefused(
                "move_object_as_package",
                f"A move package is expected, instead a move object is passed: {package}",
            )
        return value

    def _receiving(self, inputs: tuple[Input, ...]) -> Iterator[ObjectReference]:
        for value in inputs:
            if isinstance(value, ReceivingObject):
                target = self._at(value.reference)
                if not isinstance(target.data, MoveObject):
                    raise TransactionRefused(
                        "move_package_as_object",
                        f"A move object is expected, instead a move package is passed: {target.id}",
                    )
                if not isinstance(target.owner, AddressOwner):
                    check_owner(target, ZERO)
                    raise TransactionRefused(
                        "mutable_parameter_expected",
                        "Immutable parameter provided, mutable parameter expected",
                    )
                yield value.reference


def _packages(commands: tuple[Command, ...]) -> list[Address]:
    """Return the IDs of the packages to which commands refer, sorted and without duplicates."""
    packages: set[Address] = set()
    for command in commands:
        if isinstance(command, MoveCall):
            packages.add(command.package)
        elif isinstance(command, Publish):
            packages.update(command.dependencies)
        elif isinstance(command, Upgrade):
            packages.update(command.dependencies, (command.package,))
    return sorted(packages)


def _not_found(object_id: Address, version: int | None) -> TransactionRefused:
    version_text = "None" if version is None else f"Some(SequenceNumber({version}))"
    return TransactionRefused(
        "object_not_found",
        f"Could not find the referenced object {object_id} at version {version_text}",
        details={"object_id": str(object_id)},
    )


def _used_twice(object_id: Address) -> TransactionRefused:
    return TransactionRefused(
        "mutable_object_used_more_than_once",
        f"Mutable object {object_id} cannot appear more than one in one transaction",
    )


def _describe(reference: ObjectReference) -> str:
    version = f"SequenceNumber({reference.version})"
    return f"({reference.object_id}, {version}, o#{reference.digest})"
