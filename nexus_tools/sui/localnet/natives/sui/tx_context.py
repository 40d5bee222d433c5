"""The native functions of `sui::tx_context`, which read the transaction's properties."""

from collections.abc import Callable

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.object_runtime import TransactionContext
from nexus_tools.sui.localnet.natives.table import natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, Native, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.digest import created_object_id
from nexus_tools.sui.types.type_tag import TypeTag

_COST = 30
_COST_FRESH_ID = 52


def _reader(read: Callable[[TransactionContext], Value]) -> Native:
    """Return a native function that reads one property of the transaction."""

    def native(context: Context, _types: tuple[TypeTag, ...]) -> Value:
        charge(context, _COST)
        return read(runtime_of(context).transaction)

    return native


def fresh_id(context: Context, _types: tuple[TypeTag, ...]) -> bytes:
    """Return the id of a new object."""
    charge(context, _COST_FRESH_ID)
    return bytes(runtime_of(context).fresh_id())


def derive_id(
    context: Context, _types: tuple[TypeTag, ...], digest: bytearray, number: int
) -> bytes:
    """Return the id of the object that a transaction creates at this creation index."""
    charge(context, _COST_FRESH_ID)
    return bytes(created_object_id(bytes(digest), number))


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "tx_context",
    native_sender=_reader(lambda transaction: bytes(transaction.sender)),
    native_epoch=_reader(lambda transaction: transaction.epoch),
    native_epoch_timestamp_ms=_reader(lambda transaction: transaction.epoch_timestamp_ms),
    native_rgp=_reader(lambda transaction: transaction.reference_gas_price),
    native_gas_price=_reader(lambda transaction: transaction.gas_price),
    native_gas_budget=_reader(lambda transaction: transaction.gas_budget),
    native_ids_created=_reader(lambda transaction: transaction.ids_created),
    native_sponsor=_reader(
        lambda transaction: [bytes(transaction.sponsor)] if transaction.sponsor else []
    ),
    fresh_id=fresh_id,
    derive_id=derive_id,
)
