"""Transactions as clients send them: BCS bytes, or a message with every part of them.

A message may leave out what a node can work out. Of that, only payment, price and budget are filled
in here; an input that does not say what it is is refused.
"""

from collections.abc import Callable, Iterable

from nexus_tools.localnet.execution.limits import MAX_TX_GAS
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.command import GAS, INPUT, RESULT
from nexus_tools.localnet.rpc.rendering.input import (
    IMMUTABLE_OR_OWNED,
    MUTABLE,
    PURE,
    RECEIVING,
    SHARED,
)
from nexus_tools.localnet.rpc.rendering.transaction import EPOCH, NONE, VALID_DURING
from nexus_tools.localnet.rpc.request_fields import address, digest, parsed, required
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.expiration import EpochExpiration, Expiration, NoExpiration, ValidDuring
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import (
    TRANSACTION_DATA,
    Argument,
    Command,
    GasCoin,
    GasData,
    Input,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    OwnedObject,
    ProgrammableTransaction,
    Publish,
    Pure,
    ReceivingObject,
    Result,
    SharedObject,
    SplitCoins,
    TransactionData,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.type_tag import parse_type_tag


def parse_transaction(message: Message, reference_gas_price: int) -> TransactionData:
    """The transaction of a request. Raises `RpcError` (INVALID_ARGUMENT)."""
    if message.HasField("bcs"):
        try:
            return TRANSACTION_DATA.decode(message.bcs.value)
        except BcsError as error:
            raise invalid(f"invalid transaction: {error.message}") from None
    sender = address(message, "sender")
    if message.kind.WhichOneof("data") != "programmable_transaction":
        raise invalid("missing transaction.kind.programmable_transaction")
    programmable = message.kind.programmable_transaction
    return TransactionData(
        ProgrammableTransaction(
            tuple(map(_input, programmable.inputs)), tuple(map(_command, programmable.commands))
        ),
        sender,
        _gas(message.gas_payment, sender, reference_gas_price),
        _expiration(message.expiration),
    )


def _gas(message: Message, sender: Address, reference_gas_price: int) -> GasData:
    return GasData(
        tuple(map(_reference, message.objects)),
        address(message, "owner") if message.HasField("owner") else sender,
        message.price if message.HasField("price") else reference_gas_price,
        message.budget if message.HasField("budget") else MAX_TX_GAS,
    )


def _reference(message: Message) -> ObjectReference:
    if not message.HasField("version"):
        raise invalid("missing version of an object reference")
    return ObjectReference(
        address(message, "object_id"), message.version, digest(message, "digest")
    )


def _expiration(message: Message) -> Expiration:
    if message.kind == EPOCH:
        return EpochExpiration(message.epoch)
    if message.kind == VALID_DURING:
        return ValidDuring(
            message.min_epoch if message.HasField("min_epoch") else None,
            message.epoch if message.HasField("epoch") else None,
            _milliseconds(message, "min_timestamp"),
            _milliseconds(message, "max_timestamp"),
            digest(message, "chain"),
            message.nonce,
        )
    if message.kind in (0, NONE):
        return NoExpiration()
    raise invalid("invalid expiration: this kind is not read")


def _milliseconds(message: Message, name: str) -> int | None:
    if not message.HasField(name):
        return None
    time = getattr(message, name)
    return int(time.seconds) * 1000 + int(time.nanos) // 1_000_000


# --- Inputs


def _input(message: Message) -> Input:
    parse = _INPUTS.get(message.kind)
    if parse is not None:
        return parse(message)
    if message.HasField("pure"):
        return Pure(message.pure)
    raise RpcError(
        Code.UNIMPLEMENTED,
        "this local network does not resolve inputs: each needs its kind, and objects their"
        " version and digest",
    )


def _shared(message: Message) -> SharedObject:
    if not message.HasField("version"):
        raise invalid("missing version of a shared object")
    mutable = message.mutable or message.mutability == MUTABLE
    return SharedObject(address(message, "object_id"), message.version, mutable)


_INPUTS: dict[int, Callable[[Message], Input]] = {
    PURE: lambda message: Pure(message.pure),
    IMMUTABLE_OR_OWNED: lambda message: OwnedObject(_reference(message)),
    SHARED: _shared,
    RECEIVING: lambda message: ReceivingObject(_reference(message)),
}


# --- Commands


def _command(message: Message) -> Command:
    name = message.WhichOneof("command")
    if name is None:
        raise invalid("invalid command: it is empty")
    return _COMMANDS[name](getattr(message, name))


def _argument(message: Message) -> Argument:
    if message.kind == GAS:
        return GasCoin()
    if message.kind == INPUT:
        return InputArgument(_index(message.input))
    if message.kind == RESULT and message.HasField("subresult"):
        return NestedResult(_index(message.result), _index(message.subresult))
    if message.kind == RESULT:
        return Result(_index(message.result))
    raise invalid("invalid argument: its kind is not known")


def _index(number: int) -> int:
    if number > 0xFFFF:
        raise invalid(f"invalid argument: the index {number} does not fit 16 bits")
    return number


def _arguments(messages: Iterable[Message]) -> tuple[Argument, ...]:
    return tuple(map(_argument, messages))


def _move_call(message: Message) -> MoveCall:
    return MoveCall(
        address(message, "package"),
        required(message, "module"),
        required(message, "function"),
        tuple(parsed("type_argument", text, parse_type_tag) for text in message.type_arguments),
        _arguments(message.arguments),
    )


def _make_move_vector(message: Message) -> MakeMoveVec:
    element = None
    if message.HasField("element_type"):
        element = parsed("element_type", message.element_type, parse_type_tag)
    return MakeMoveVec(element, _arguments(message.elements))


def _addresses(texts: Iterable[str]) -> tuple[Address, ...]:
    return tuple(parsed("dependency", text, Address.parse) for text in texts)


_COMMANDS: dict[str, Callable[[Message], Command]] = {
    "move_call": _move_call,
    "transfer_objects": lambda message: TransferObjects(
        _arguments(message.objects), _argument(message.address)
    ),
    "split_coins": lambda message: SplitCoins(_argument(message.coin), _arguments(message.amounts)),
    "merge_coins": lambda message: MergeCoins(
        _argument(message.coin), _arguments(message.coins_to_merge)
    ),
    "publish": lambda message: Publish(tuple(message.modules), _addresses(message.dependencies)),
    "make_move_vector": _make_move_vector,
    "upgrade": lambda message: Upgrade(
        tuple(message.modules),
        _addresses(message.dependencies),
        address(message, "package"),
        _argument(message.ticket),
    ),
}
