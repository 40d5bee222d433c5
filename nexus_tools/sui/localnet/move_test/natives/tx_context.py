"""The test-only native functions of `sui::tx_context`, which create artificial transactions."""

from msgspec.structs import replace

from nexus_tools.sui.localnet.move_test.scenario import scenario_of
from nexus_tools.sui.localnet.natives import TransactionContext, natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference, TypeArguments, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, ZERO, Address
from nexus_tools.sui.types.digest import Digest, created_object_id

_BAD_HASH_LENGTH = 0
_NO_ID_CREATED = 1
_DIGEST_SIZE = 32
# The transaction digest of `dummy`. The framework defines this digest, so all test runners create
# equal ids.
_DUMMY_DIGEST = Digest(
    bytes.fromhex("3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532")
)


def hinted_digest(hint: int) -> Digest:
    """Return the transaction digest for a number, which is its bytes followed by zeros."""
    return Digest(hint.to_bytes(8, "little").ljust(_DIGEST_SIZE, b"\0"))


def replace_context(  # noqa: PLR0917 - a transaction has these
    context: Context,
    sender: bytes,
    digest: Digest,
    epoch: int = 0,
    epoch_timestamp_ms: int = 0,
    ids_created: int = 0,
) -> Value:
    """Replace the transaction, except its gas price, budget and sponsor. Return its `TxContext`."""
    return _go_on(
        context,
        replace(
            runtime_of(context).transaction,
            sender=Address(sender),
            digest=digest,
            epoch=epoch,
            epoch_timestamp_ms=epoch_timestamp_ms,
            ids_created=ids_created,
        ),
    )


def _go_on(context: Context, transaction: TransactionContext) -> Value:
    runtime_of(context).transaction = transaction
    return transaction.as_move_value()


def create(  # noqa: PLR0917 - the Move function has these
    context: Context,
    _types: TypeArguments,
    sender: bytes,
    tx_hash: bytearray,
    epoch: int,
    ms: int,
    ids_created: int,
    reference_gas_price: int,
    gas_price: int,
    gas_budget: int,
    sponsor: Value,
) -> Value:
    """Replace the transaction's properties with these values. `sponsor` is an `Option`."""
    transaction = TransactionContext(
        Address(sender),
        _digest(tx_hash),
        epoch,
        ms,
        reference_gas_price,
        gas_price,
        gas_budget,
        Address(sponsor[0][0]) if sponsor[0] else None,
        ids_created,
    )
    return _go_on(context, transaction)


def _digest(tx_hash: bytearray) -> Digest:
    if len(tx_hash) != _DIGEST_SIZE:
        raise NativeAbort(_BAD_HASH_LENGTH)
    return Digest(bytes(tx_hash))


def new(  # noqa: PLR0917 - the Move function has these
    context: Context,
    _types: TypeArguments,
    sender: bytes,
    tx_hash: bytearray,
    epoch: int,
    ms: int,
    ids_created: int,
) -> Value:
    """Replace the transaction with a transaction that has this digest."""
    return replace_context(context, sender, _digest(tx_hash), epoch, ms, ids_created)


def new_from_hint(  # noqa: PLR0917 - the Move function has these
    context: Context,
    _types: TypeArguments,
    sender: bytes,
    hint: int,
    epoch: int,
    ms: int,
    ids_created: int,
) -> Value:
    """Replace the transaction with a transaction that has the digest for a number."""
    return replace_context(context, sender, hinted_digest(hint), epoch, ms, ids_created)


def dummy(context: Context, _types: TypeArguments) -> Value:
    """Replace the transaction with a transaction that 0x0 sends in epoch 0."""
    return replace_context(context, bytes(ZERO), _DUMMY_DIGEST)


def dummy_tx_hash_with_hint(_context: Context, _types: TypeArguments, hint: int) -> Value:
    """Return the transaction digest for a number."""
    return bytearray(hinted_digest(hint))


def gas_budget(context: Context, _types: TypeArguments, _ctx: Reference) -> int:
    """Return the gas budget in MIST."""
    return runtime_of(context).transaction.gas_budget


def get_ids_created(context: Context, _types: TypeArguments, _ctx: Reference) -> int:
    """Return the number of ids that the transaction has created."""
    return runtime_of(context).transaction.ids_created


def last_created_object_id(context: Context, _types: TypeArguments, _ctx: Reference) -> bytes:
    """Return the id that the transaction created last. Abort if no id was created."""
    transaction = runtime_of(context).transaction
    if not transaction.ids_created:
        raise NativeAbort(_NO_ID_CREATED)
    return bytes(created_object_id(transaction.digest, transaction.ids_created - 1))


def last_created(context: Context, types: TypeArguments, ctx: Reference) -> Value:
    """Return the result of `last_created_object_id` as an `ID`."""
    return [last_created_object_id(context, types, ctx)]


def increment_epoch_number(context: Context, _types: TypeArguments, ctx: Reference) -> None:
    """Advance the transaction's epoch by one."""
    transaction = scenario_of(context).runtime.transaction
    transaction.epoch += 1
    ctx.write(transaction.as_move_value())


def increment_epoch_timestamp(
    context: Context, _types: TypeArguments, ctx: Reference, ms: int
) -> None:
    """Advance the time of the transaction's epoch by `ms`."""
    transaction = scenario_of(context).runtime.transaction
    transaction.epoch_timestamp_ms += ms
    ctx.write(transaction.as_move_value())


NATIVES = natives_of(SUI_FRAMEWORK, "object", last_created=last_created) | natives_of(
    SUI_FRAMEWORK,
    "tx_context",
    new=new,
    new_from_hint=new_from_hint,
    create=create,
    dummy=dummy,
    dummy_tx_hash_with_hint=dummy_tx_hash_with_hint,
    gas_budget=gas_budget,
    get_ids_created=get_ids_created,
    ids_created=get_ids_created,
    last_created_object_id=last_created_object_id,
    increment_epoch_number=increment_epoch_number,
    increment_epoch_timestamp=increment_epoch_timestamp,
)
