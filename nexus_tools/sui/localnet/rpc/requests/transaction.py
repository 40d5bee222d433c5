"""The parsing of transactions in requests, which are BCS bytes or messages with all parts.

A message may omit only the payment, price and budget. `rpc/resolution` resolves messages with other
missing parts.
"""

from collections.abc import Callable, Iterable

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.execution import MAX_TX_GAS
from nexus_tools.sui.localnet.rpc.interface import (
    ArgumentKind,
    ExpirationKind,
    InputKind,
    Mutability,
    invalid,
)
from nexus_tools.sui.localnet.rpc.requests.fields import address, digest, parsed, required
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import (
    EpochExpiration,
    Expiration,
    NoExpiration,
    ValidDuring,
    Validity,
)
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
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
from nexus_tools.sui.types.type_tag import parse_type_tag

_MAX_U64 = 2**64 - 1


def parse_transaction(message: Message, reference_gas_price: int) -> TransactionData:
    """Return the transaction of a request.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    if message.HasField("bcs"):
        try:
            return TRANSACTION_DATA.decode(message.bcs.value)
        except BcsError as error:
            raise invalid(f"invalid transaction: {error.message}") from None
    sender = address(message, "sender")
    programmable = programmable_message(message)
    return TransactionData(
        ProgrammableTransaction(
            tuple(map(_input, programmable.inputs)), parse_commands(programmable)
        ),
        sender,
        _gas(message.gas_payment, sender, reference_gas_price),
        parse_expiration(message.expiration),
    )


def programmable_message(message: Message) -> Message:
    """Return the programmable transaction in a transaction message.

    Raises:
        RpcError: The transaction is not programmable.
    """
    if message.kind.WhichOneof("data") != "programmable_transaction":
        raise invalid("missing transaction.kind.programmable_transaction")
    return message.kind.programmable_transaction


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


def parse_expiration(message: Message) -> Expiration:
    """Return the expiration of a transaction. Default: no expiration.

    Raises:
        RpcError: The expiration is invalid.
    """
    if message.kind == ExpirationKind.EPOCH:
        return EpochExpiration(message.epoch)
    if message.kind == ExpirationKind.VALID_DURING:
        return ValidDuring(*_window(message))
    if message.kind == ExpirationKind.VALIDITY:
        return Validity(*_window(message), _allowed_proposers(message))
    if message.kind in (0, ExpirationKind.NONE):
        return NoExpiration()
    raise invalid("invalid expiration: unknown kind")


def _window(message: Message) -> tuple[int | None, int | None, int | None, int | None, Digest, int]:
    return (
        message.min_epoch if message.HasField("min_epoch") else None,
        message.epoch if message.HasField("epoch") else None,
        _milliseconds(message, "min_timestamp"),
        _milliseconds(message, "max_timestamp"),
        digest(message, "chain"),
        message.nonce,
    )


def _allowed_proposers(message: Message) -> tuple[int, tuple[int, ...]] | None:
    if not message.HasField("allowed_proposers"):
        return None
    return message.allowed_proposers.epoch, tuple(message.allowed_proposers.proposers)


def _milliseconds(message: Message, name: str) -> int | None:
    if not message.HasField(name):
        return None
    time = getattr(message, name)
    milliseconds = int(time.seconds) * 1000 + int(time.nanos) // 1_000_000
    if not 0 <= milliseconds <= _MAX_U64:
        raise invalid(f"invalid {name}: the time is out of range")
    return milliseconds


# --- Inputs


def _input(message: Message) -> Input:
    parse = _INPUTS.get(message.kind)
    if parse is not None:
        return parse(message)
    if message.HasField("pure"):
        return Pure(message.pure)
    raise invalid(
        "invalid transaction: an input is not resolved. Call SimulateTransaction, then sign and"
        " execute the transaction that it returns"
    )


def _shared(message: Message) -> SharedObject:
    if not message.HasField("version"):
        raise invalid("missing version of a shared object")
    mutable = message.mutable or message.mutability in (
        Mutability.MUTABLE,
        Mutability.NON_EXCLUSIVE_WRITE,
    )
    exclusive = message.mutability != Mutability.NON_EXCLUSIVE_WRITE
    return SharedObject(address(message, "object_id"), message.version, mutable, exclusive)


def parse_withdrawal(message: Message) -> FundsWithdrawal:
    """Return an input that withdraws from an address balance.

    Raises:
        RpcError: The input is invalid.
    """
    withdrawal = message.funds_withdrawal
    if withdrawal.source not in _WITHDRAWAL_SOURCES:
        raise invalid("invalid funds_withdrawal: unknown source")
    coin_type = parsed("coin_type", required(withdrawal, "coin_type"), parse_type_tag)
    return FundsWithdrawal(withdrawal.amount, coin_type, withdrawal.source - 1)


_WITHDRAWAL_SOURCES = (1, 2)
_INPUTS: dict[int, Callable[[Message], Input]] = {
    InputKind.PURE: lambda message: Pure(message.pure),
    InputKind.IMMUTABLE_OR_OWNED: lambda message: OwnedObject(_reference(message)),
    InputKind.SHARED: _shared,
    InputKind.RECEIVING: lambda message: ReceivingObject(_reference(message)),
    InputKind.FUNDS_WITHDRAWAL: parse_withdrawal,
}


# --- Commands


def parse_commands(programmable: Message) -> tuple[Command, ...]:
    """Return the commands of a programmable transaction.

    Raises:
        RpcError: A command is invalid.
    """
    return tuple(map(_command, programmable.commands))


def _command(message: Message) -> Command:
    name = message.WhichOneof("command")
    if name is None:
        raise invalid("invalid command: the command is empty")
    return _COMMANDS[name](getattr(message, name))


def _argument(message: Message) -> Argument:
    if message.kind == ArgumentKind.GAS:
        return GasCoin()
    if message.kind == ArgumentKind.INPUT:
        return InputArgument(_index(message.input))
    if message.kind == ArgumentKind.RESULT and message.HasField("subresult"):
        return NestedResult(_index(message.result), _index(message.subresult))
    if message.kind == ArgumentKind.RESULT:
        return Result(_index(message.result))
    raise invalid("invalid argument: unknown kind")


def _index(number: int) -> int:
    if number > 0xFFFF:
        raise invalid(f"invalid argument: the index {number} exceeds 16 bits")
    return number


def _arguments(messages: Iterable[Message]) -> tuple[Argument, ...]:
    return tuple(map(_argument, messages))


def _move_call(message: Message) -> MoveCall:
    return MoveCall(
        _package(message),
        required(message, "module"),
        required(message, "function"),
        tuple(parsed("type_argument", text, parse_type_tag) for text in message.type_arguments),
        _arguments(message.arguments),
    )


def _package(message: Message) -> Address:
    text = required(message, "package")
    if "@" in text or text.endswith(".sui"):
        raise invalid(
            f"invalid package: {text[:200]!r} is a name, but nodes accept only addresses. Look the"
            " name up in the Move Registry first"
        )
    return address(message, "package")


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
