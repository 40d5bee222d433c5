"""A builder of programmable transactions. The builder does not access the network."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, byte_vector, u64
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.types.address import ADDRESS, CLOCK, MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.clock import clock_input
from nexus_tools.sui.types.transaction import (
    Argument,
    Command,
    GasCoin,
    Input,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    Publish,
    Pure,
    ReceivingObject,
    Result,
    SharedObject,
    SplitCoins,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import Primitive, TypeTag

MAX_PURE_BYTES = 16 * 1024
"""The maximum size of a pure input: `max_pure_argument_size` of the protocol configuration."""

MAX_CHUNK_BYTES = MAX_PURE_BYTES - 3
"""The maximum size of a `vector<u8>` in a pure input, without three bytes for the length."""


class UnresolvedObject(Struct, frozen=True):
    """An object input of which only the ID is known.

    The input is resolved to an `ObjectArgument` before the transaction is sent.
    """

    object_id: Address
    mutable: bool


class TransactionBuilder:
    """A builder that collects inputs and commands.

    Each command method returns an argument that refers to the command's result. If several commands
    use the same object, the object has only one input. The input is mutable if any use is mutable.
    """

    gas = GasCoin()

    def __init__(self) -> None:
        self._inputs: list[Input | UnresolvedObject] = []
        self._objects: dict[Address, int] = {}
        self._commands: list[Command] = []

    # --- Inputs

    def pure(self, codec: Codec[Any], value: Any) -> InputArgument:
        """Add a pure input: a value that is not an object. Raises `pure_input_too_large`."""
        encoded = codec.encode(value)
        if len(encoded) > MAX_PURE_BYTES:
            raise ValidationError(
                "pure_input_too_large",
                f"expected at most {MAX_PURE_BYTES} bytes for a pure input, got {len(encoded)}",
            )
        return self._append(Pure(encoded))

    def u64(self, value: int) -> InputArgument:
        """Add a `u64` input."""
        return self.pure(u64, value)

    def address(self, value: Address) -> InputArgument:
        """Add an `address` input."""
        return self.pure(ADDRESS, value)

    def byte_vector(self, value: bytes) -> Argument:
        """Add a `vector<u8>` of any length. A vector that exceeds one pure input is split.

        Commands then join the chunks. These commands call a Move function that loops over the
        bytes. For 48 KiB, this function executes about a million instructions.
        """
        if len(value) <= MAX_CHUNK_BYTES:
            return self.pure(byte_vector, value)
        joined = self.pure(byte_vector, value[:MAX_CHUNK_BYTES])
        for start in range(MAX_CHUNK_BYTES, len(value), MAX_CHUNK_BYTES):
            chunk = self.pure(byte_vector, value[start : start + MAX_CHUNK_BYTES])
            self.move_call(
                MOVE_STDLIB, "vector", "append", [joined, chunk], type_arguments=(Primitive.U8,)
            )
        return joined

    def withdrawal(self, amount: int, coin_type: TypeTag) -> InputArgument:
        """Add an input that can withdraw up to `amount` from the sender's address balance.

        To get a coin or a balance, pass the input to `0x2::coin::redeem_funds` or
        `0x2::balance::redeem_funds`.
        """
        return self._append(FundsWithdrawal(amount, coin_type, 0))

    def object(self, object_id: Address, *, mutable: bool = True) -> InputArgument:
        """Add an object input. `mutable` affects only shared objects.

        A shared object that is passed by value must also be mutable.
        """
        if object_id == CLOCK:
            return self.resolved(clock_input(mutable=False))
        index = self._objects.get(object_id)
        if index is None:
            argument = self._append(UnresolvedObject(object_id, mutable))
            self._objects[object_id] = argument.index
            return argument
        self._make_mutable(index, mutable=mutable)
        return InputArgument(index)

    def resolved(self, argument: ObjectArgument) -> InputArgument:
        """Add an input for an object whose owner and version are known."""
        object_id = _object_id(argument)
        index = self._objects.get(object_id)
        if index is None:
            self._objects[object_id] = len(self._inputs)
            return self._append(argument)
        self._make_mutable(index, mutable=isinstance(argument, SharedObject) and argument.mutable)
        return InputArgument(index)

    def _append(self, value: Input | UnresolvedObject) -> InputArgument:
        self._inputs.append(value)
        return InputArgument(len(self._inputs) - 1)

    def _make_mutable(self, place: int, *, mutable: bool) -> None:
        value = self._inputs[place]
        if mutable and isinstance(value, UnresolvedObject):
            self._inputs[place] = UnresolvedObject(value.object_id, mutable=True)
        elif mutable and isinstance(value, SharedObject):
            self._inputs[place] = SharedObject(value.object_id, value.initial_version, mutable=True)

    # --- Commands

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands that have been added so far."""
        return tuple(self._commands)

    def command(self, command: Command) -> Result:
        """Append a command, and return the argument for its result."""
        self._commands.append(command)
        return Result(len(self._commands) - 1)

    def move_call(
        self,
        package: Address,
        module: str,
        function: str,
        arguments: Sequence[Argument] = (),
        type_arguments: Sequence[TypeTag] = (),
    ) -> Result:
        """Call a Move function."""
        return self.command(
            MoveCall(package, module, function, tuple(type_arguments), tuple(arguments))
        )

    def split_coins(self, coin: Argument, amounts: Sequence[int]) -> tuple[NestedResult, ...]:
        """Split one new coin for each amount off a coin. Amounts of SUI are in MIST."""
        result = self.command(SplitCoins(coin, tuple(self.u64(amount) for amount in amounts)))
        return tuple(result[index] for index in range(len(amounts)))

    def merge_coins(self, destination: Argument, sources: Sequence[Argument]) -> None:
        """Merge the coins `sources` into the coin `destination`."""
        self.command(MergeCoins(destination, tuple(sources)))

    def transfer_objects(self, objects: Sequence[Argument], recipient: Address) -> None:
        """Transfer objects to an address."""
        self.command(TransferObjects(tuple(objects), self.address(recipient)))

    def deposit(self, coin: Argument, recipient: Address, coin_type: TypeTag) -> None:
        """Deposit a coin in the address balance of `recipient`."""
        arguments = [coin, self.address(recipient)]
        self.move_call(SUI_FRAMEWORK, "coin", "send_funds", arguments, (coin_type,))

    def make_move_vec(self, elements: Sequence[Argument], element_type: TypeTag | None) -> Result:
        """Create a vector. `element_type` is required if the vector is empty."""
        return self.command(MakeMoveVec(element_type, tuple(elements)))

    def publish(self, modules: Sequence[bytes], dependencies: Sequence[Address]) -> Result:
        """Publish a package. The result is the package's `UpgradeCap`."""
        return self.command(Publish(tuple(modules), tuple(dependencies)))

    def upgrade(
        self,
        modules: Sequence[bytes],
        dependencies: Sequence[Address],
        package: Address,
        ticket: Argument,
    ) -> Result:
        """Publish the next version of a package. The result is an `UpgradeReceipt`."""
        return self.command(Upgrade(tuple(modules), tuple(dependencies), package, ticket))

    # --- The finished transaction

    @property
    def objects(self) -> frozenset[Address]:
        """The IDs of the input objects."""
        return frozenset(self._objects)

    def unresolved(self) -> tuple[UnresolvedObject, ...]:
        """Return the object inputs of which only the ID is known."""
        return tuple(value for value in self._inputs if isinstance(value, UnresolvedObject))

    def finish(
        self, objects: Mapping[Address, ObjectArgument] | None = None
    ) -> ProgrammableTransaction:
        """Return the transaction. `objects` maps the IDs of unresolved inputs to resolved inputs.

        Raises `object_unresolved` if an unresolved input is not in `objects`.
        """
        arguments = objects or {}
        inputs: list[Input] = []
        for value in self._inputs:
            if not isinstance(value, UnresolvedObject):
                inputs.append(value)
            elif value.object_id in arguments:
                inputs.append(arguments[value.object_id])
            else:
                raise ValidationError(
                    "object_unresolved", f"the owner and version of {value.object_id} are unknown"
                )
        return ProgrammableTransaction(tuple(inputs), tuple(self._commands))


def _object_id(argument: ObjectArgument) -> Address:
    if isinstance(argument, OwnedObject | ReceivingObject):
        return argument.reference.object_id
    return argument.object_id
