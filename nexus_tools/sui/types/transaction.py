"""Transactions, their inputs and their commands.

Source: `sui-types/src/{transaction,messages_consensus}.rs`.
"""

from collections.abc import Callable
from typing import Any, Never, TypeVar

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    choice,
    fixed,
    option,
    record,
    string,
    struct,
    u8,
    u16,
    u64,
    vector,
    wrapper,
)
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.address_balance import FUNDS_WITHDRAWAL, FundsWithdrawal
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.expiration import EXPIRATION, Expiration
from nexus_tools.sui.types.object import OBJECT_REFERENCE, ObjectReference
from nexus_tools.sui.types.system_transaction import (
    AUTHENTICATOR_STATE_UPDATE,
    CHANGE_EPOCH,
    CONSENSUS_COMMIT_PROLOGUE,
    CONSENSUS_COMMIT_PROLOGUE_V2,
    CONSENSUS_COMMIT_PROLOGUE_V3,
    CONSENSUS_COMMIT_PROLOGUE_V4,
    END_OF_EPOCH,
    GENESIS,
    RANDOMNESS_STATE_UPDATE,
    AuthenticatorStateUpdate,
    ChangeEpoch,
    ConsensusCommitPrologue,
    ConsensusCommitPrologueV2,
    ConsensusCommitPrologueV3,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
    Genesis,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag

T = TypeVar("T")

# --- Inputs


class Pure(Struct, frozen=True):
    """A pure input: a value that is not an object, as BCS bytes. The maximum is 16 384 bytes."""

    value: bytes


class OwnedObject(Struct, frozen=True):
    """A version of an input object that is immutable or owned by the sender."""

    reference: ObjectReference

    @property
    def object_id(self) -> Address:
        """The object's ID."""
        return self.reference.object_id


class SharedObject(Struct, frozen=True):
    """A shared input object. Consensus assigns the version.

    If the object is mutable but not `exclusive`, it is passed as `&mut`, but only its dynamic
    fields may change. The network uses such inputs to settle address balances.
    """

    object_id: Address
    initial_version: int
    mutable: bool
    exclusive: bool = True


class ReceivingObject(Struct, frozen=True):
    """An input object that was transferred to another object's address."""

    reference: ObjectReference

    @property
    def object_id(self) -> Address:
        """The object's ID."""
        return self.reference.object_id


ObjectArgument = OwnedObject | SharedObject | ReceivingObject


Input = Pure | OwnedObject | SharedObject | ReceivingObject | FundsWithdrawal

_SHARED_OBJECT = record((ADDRESS, u64, u8))
_MUTABILITIES = ((False, True), (True, True), (True, False))  # pairs (mutable, exclusive)


def _read_shared_object(data: bytes, position: int) -> tuple[SharedObject, int]:
    (object_id, version, mutability), position = _SHARED_OBJECT.read(data, position)
    if mutability >= len(_MUTABILITIES):
        raise BcsError(f"SharedObjectMutability has no variant {mutability}")
    return SharedObject(object_id, version, *_MUTABILITIES[mutability]), position


def _write_shared_object(value: SharedObject, out: bytearray) -> None:
    mutability = _MUTABILITIES.index((value.mutable, value.exclusive))
    _SHARED_OBJECT.write((value.object_id, value.initial_version, mutability), out)


OBJECT_ARGUMENT: Codec[ObjectArgument] = choice(
    "ObjectArg",
    wrapper(OwnedObject, OBJECT_REFERENCE),
    (SharedObject, Codec(_read_shared_object, _write_shared_object)),
    wrapper(ReceivingObject, OBJECT_REFERENCE),
)


def _read_input(data: bytes, position: int) -> tuple[Input, int]:
    number = data[position]
    if number >= len(_INPUT_READERS):
        raise BcsError(f"CallArg has no variant {number}")
    return _INPUT_READERS[number](data, position + 1)


def _write_input(value: Input, out: bytearray) -> None:
    if isinstance(value, Pure):
        out.append(0)
        byte_vector.write(value.value, out)
    elif isinstance(value, FundsWithdrawal):
        out.append(2)
        FUNDS_WITHDRAWAL.write(value, out)
    else:
        out.append(1)
        OBJECT_ARGUMENT.write(value, out)


_INPUT_READERS = (struct(Pure, byte_vector).read, OBJECT_ARGUMENT.read, FUNDS_WITHDRAWAL.read)
INPUT: Codec[Input] = Codec(_read_input, _write_input)

# --- Arguments


class GasCoin(Struct, frozen=True):
    """The gas coin, which pays for the transaction."""


class InputArgument(Struct, frozen=True):
    """An argument that refers to the transaction input with this index."""

    index: int


class Result(Struct, frozen=True):
    """The only return value of the command with this index."""

    command: int

    def __getitem__(self, index: int) -> "NestedResult":
        return NestedResult(self.command, index)

    def __iter__(self) -> Never:
        # Without this method, Python would iterate with `__getitem__`, which accepts any index.
        raise TypeError("a result is not iterable: index the result to get a return value")


class NestedResult(Struct, frozen=True):
    """One of the return values of a command, given by the command's and the value's index."""

    command: int
    index: int


Argument = GasCoin | InputArgument | Result | NestedResult

ARGUMENT: Codec[Argument] = choice(
    "Argument",
    (GasCoin, struct(GasCoin)),
    wrapper(InputArgument, u16),
    wrapper(Result, u16),
    (NestedResult, struct(NestedResult, u16, u16)),
)

# --- Commands


class MoveCall(Struct, frozen=True):
    """A call of a Move function."""

    package: Address
    module: str
    function: str
    type_arguments: tuple[TypeTag, ...]
    arguments: tuple[Argument, ...]


class TransferObjects(Struct, frozen=True):
    """A transfer of objects to an address."""

    objects: tuple[Argument, ...]
    address: Argument


class SplitCoins(Struct, frozen=True):
    """A command that splits one new coin for each amount off a coin."""

    coin: Argument
    amounts: tuple[Argument, ...]


class MergeCoins(Struct, frozen=True):
    """A command that merges coins into another coin."""

    destination: Argument
    sources: tuple[Argument, ...]


class Publish(Struct, frozen=True):
    """The publication of a package. The command returns the package's `UpgradeCap`."""

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]


class MakeMoveVec(Struct, frozen=True):
    """The creation of a vector. The element type is required if the vector is empty."""

    element_type: TypeTag | None
    elements: tuple[Argument, ...]


class Upgrade(Struct, frozen=True):
    """The upgrade of a package.

    The command takes an `UpgradeTicket` and returns an `UpgradeReceipt`.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]
    package: Address
    ticket: Argument


Command = MoveCall | TransferObjects | SplitCoins | MergeCoins | Publish | MakeMoveVec | Upgrade

_ARGUMENTS_OF: dict[type[Command], Callable[[Any], tuple[Argument, ...]]] = {
    MoveCall: lambda call: call.arguments,
    TransferObjects: lambda transfer: (*transfer.objects, transfer.address),
    SplitCoins: lambda split: (split.coin, *split.amounts),
    MergeCoins: lambda merge: (merge.destination, *merge.sources),
    MakeMoveVec: lambda made: made.elements,
    Publish: lambda _: (),
    Upgrade: lambda upgrade: (upgrade.ticket,),
}


def arguments_of(command: Command) -> tuple[Argument, ...]:
    """Return all arguments of a command. The argument indices in errors use this order."""
    return _ARGUMENTS_OF[type(command)](command)


_ARGUMENTS = vector(ARGUMENT)
_MODULES = vector(byte_vector)
_ADDRESSES = vector(ADDRESS)

COMMAND: Codec[Command] = choice(
    "Command",
    (MoveCall, struct(MoveCall, ADDRESS, string, string, vector(TYPE_TAG), _ARGUMENTS)),
    (TransferObjects, struct(TransferObjects, _ARGUMENTS, ARGUMENT)),
    (SplitCoins, struct(SplitCoins, ARGUMENT, _ARGUMENTS)),
    (MergeCoins, struct(MergeCoins, ARGUMENT, _ARGUMENTS)),
    (Publish, struct(Publish, _MODULES, _ADDRESSES)),
    (MakeMoveVec, struct(MakeMoveVec, option(TYPE_TAG), _ARGUMENTS)),
    (Upgrade, struct(Upgrade, _MODULES, _ADDRESSES, ADDRESS, ARGUMENT)),
)

# --- Kinds


class ProgrammableTransaction(Struct, frozen=True):
    """A transaction of inputs and commands. A command can use the results of earlier commands."""

    inputs: tuple[Input, ...]
    commands: tuple[Command, ...]


class ProgrammableSystemTransaction(Struct, frozen=True):
    """A programmable transaction that the system sends."""

    inputs: tuple[Input, ...]
    commands: tuple[Command, ...]


TransactionKind = (
    ProgrammableTransaction
    | ChangeEpoch
    | Genesis
    | ConsensusCommitPrologue
    | AuthenticatorStateUpdate
    | EndOfEpoch
    | RandomnessStateUpdate
    | ConsensusCommitPrologueV2
    | ConsensusCommitPrologueV3
    | ConsensusCommitPrologueV4
    | ProgrammableSystemTransaction
)

TRANSACTION_KIND: Codec[TransactionKind] = choice(
    "TransactionKind",
    (
        ProgrammableTransaction,
        struct(ProgrammableTransaction, vector(INPUT), vector(COMMAND)),
    ),
    (ChangeEpoch, CHANGE_EPOCH),
    (Genesis, GENESIS),
    (ConsensusCommitPrologue, CONSENSUS_COMMIT_PROLOGUE),
    (AuthenticatorStateUpdate, AUTHENTICATOR_STATE_UPDATE),
    (EndOfEpoch, END_OF_EPOCH),
    (RandomnessStateUpdate, RANDOMNESS_STATE_UPDATE),
    (ConsensusCommitPrologueV2, CONSENSUS_COMMIT_PROLOGUE_V2),
    (ConsensusCommitPrologueV3, CONSENSUS_COMMIT_PROLOGUE_V3),
    (ConsensusCommitPrologueV4, CONSENSUS_COMMIT_PROLOGUE_V4),
    (
        ProgrammableSystemTransaction,
        struct(ProgrammableSystemTransaction, vector(INPUT), vector(COMMAND)),
    ),
)

# --- Gas


class GasData(Struct, frozen=True):
    """The payer, gas coins, price (MIST per gas unit) and budget (MIST) of a transaction."""

    payment: tuple[ObjectReference, ...]
    owner: Address
    price: int
    budget: int


GAS_DATA = struct(GasData, vector(OBJECT_REFERENCE), ADDRESS, u64, u64)


class TransactionData(Struct, frozen=True):
    """A complete transaction, which the sender signs."""

    kind: TransactionKind
    sender: Address
    gas: GasData
    expiration: Expiration

    def encode(self) -> bytes:
        """Return the BCS bytes of the transaction, which signatures and the digest cover."""
        return TRANSACTION_DATA.encode(self)

    def digest(self) -> Digest:
        """Return the transaction's digest."""
        return transaction_digest(TRANSACTION_DATA.encode(self))


TRANSACTION_DATA: Codec[TransactionData] = choice(
    "TransactionData",
    (
        TransactionData,
        struct(TransactionData, TRANSACTION_KIND, ADDRESS, GAS_DATA, EXPIRATION),
    ),
)

# The codec of `SenderSignedData`, which consists of the intent (scope, version, application), the
# transaction, and the signatures.
SIGNED_TRANSACTION: Codec[tuple[Any, ...]] = record(
    (fixed(3, bytes), TRANSACTION_DATA, vector(byte_vector))
)
