"""Validators and epochs for tests, created with private functions of 0x3."""

from collections.abc import Callable

from nexus_tools.sui.localnet.move_test.natives.framework import call_framework, new_uid
from nexus_tools.sui.localnet.natives import NativeTable, natives_of
from nexus_tools.sui.localnet.vm import Context, Reference, TypeArguments, Value, borrow
from nexus_tools.sui.types.address import SUI_SYSTEM

_PROTOCOL_VERSION, _START_MS, _REINVEST_RATE = 1, 0, 0
_GAS_PRICE, _COMMISSION_RATE, _EPOCH = 1, 0, 0
_SUBSIDY_MIST, _SUBSIDY_PERIOD_EPOCHS, _SUBSIDY_DECREASE_RATE = 0, 10, 0
# The duration of an epoch, the first epoch with a subsidy, the maximum number of validators, three
# stake thresholds, and the grace period in epochs.
_PARAMETERS = (42, 0, 150, 1, 1, 0, 7)
# The metadata of a validator: four keys and proofs, which are not checked, the name, the
# description, two URLs, and four network addresses.
_KEYS = (b"\xaa", b"\xbb", b"\xcc", b"\xdd")
_NAMES = (b"ValidatorName", b"description")
_URLS = (b"image_url", b"project_url")
_NETWORK_ADDRESSES = (b"/ip4/127.0.0.1/tcp/80", *(b"/ip4/127.0.0.1/udp/80",) * 3)


def call_system(context: Context, module: str, name: str, *arguments: Value) -> Value:
    """Call a function of 0x3, which may be private, and return its result or None."""
    return call_framework(context, module, name, list(arguments), package=SUI_SYSTEM)


def new_validator(
    context: Context, _types: TypeArguments, account: bytes, stake: Value, ctx: Reference
) -> Value:
    """Return a validator that has its own stake and is active from the first epoch."""
    metadata = call_system(
        context,
        "validator",
        "new_metadata",
        account,
        *(bytearray(key) for key in _KEYS),
        *([bytearray(name)] for name in _NAMES),
        *([[bytearray(url)]] for url in _URLS),
        *([bytearray(network_address)] for network_address in _NETWORK_ADDRESSES),
        call_framework(context, "bag", "new", [ctx]),
    )
    terms = (_GAS_PRICE, _COMMISSION_RATE)
    validator = call_system(context, "validator", "new_from_metadata", metadata, *terms, ctx)
    cell = borrow(validator)
    call_system(context, "validator", "request_add_stake_at_genesis", cell, stake, account, ctx)
    call_system(context, "validator", "activate", cell, _EPOCH)
    return cell.read()


def share_state(
    context: Context,
    _types: TypeArguments,
    validators: Value,
    subsidy: Value,
    storage_fund: Value,
    ctx: Reference,
) -> None:
    """Share a system state that pays no subsidy and never removes validators with a low stake."""
    inner, terms = "sui_system_state_inner", (_PROTOCOL_VERSION, _START_MS)
    parameters = call_system(context, inner, "create_system_parameters", *_PARAMETERS, ctx)
    rates = (_SUBSIDY_MIST, _SUBSIDY_PERIOD_EPOCHS, _SUBSIDY_DECREASE_RATE)
    stake_subsidy = call_system(context, "stake_subsidy", "create", subsidy, *rates, ctx)
    arguments = (validators, storage_fund, *terms, parameters, stake_subsidy, ctx)
    call_system(context, "sui_system", "create", new_uid(context), *arguments)


def end_epoch(  # noqa: PLR0917 - the Move function has these
    context: Context,
    _types: TypeArguments,
    state: Reference,
    storage: Value,
    computation: Value,
    storage_rebate: int,
    non_refundable: int,
    slashing_rate: int,
    ctx: Reference,
) -> Value:
    """Start the next epoch in the same way as a real network, and return the storage rebate."""
    epoch = call_framework(context, "tx_context", "epoch", [ctx])
    rates = (_REINVEST_RATE, slashing_rate, _START_MS)
    amounts = (epoch + 1, _PROTOCOL_VERSION, storage_rebate, non_refundable, *rates)
    funds = (storage, computation, state)
    return call_system(context, "sui_system", "advance_epoch", *funds, *amounts, ctx)


def pool_of(context: Context, types: TypeArguments, state: Reference, validator: bytes) -> Value:
    """Return the staking pool of an active validator."""
    validators = _inner("validators")(context, types, state)
    arguments = (validators, validator)
    validator_reference = call_system(
        context, "validator_set", "get_active_validator_ref", *arguments
    )
    return call_system(context, "validator", "get_staking_pool_ref", validator_reference)


def _private(module: str, name: str) -> Callable[..., Value]:
    def call(context: Context, _types: TypeArguments, *arguments: Value) -> Value:
        return call_system(context, module, name, *arguments)

    return call


def _inner(name: str) -> Callable[..., Value]:
    """Return a native function that calls a function of the inner system state."""

    def call(context: Context, _types: TypeArguments, state: Reference, *arguments: Value) -> Value:
        inner = call_system(context, "sui_system", "load_system_state_mut", state)
        return call_system(context, "sui_system_state_inner", name, inner, *arguments)

    return call


NATIVES: NativeTable = {
    **natives_of(
        SUI_SYSTEM,
        "governance_test_utils",
        new_validator=new_validator,
        share_state=share_state,
        end_epoch=end_epoch,
        pool_of=pool_of,
        rewards=_private("staking_pool", "calculate_rewards"),
    ),
    **natives_of(
        SUI_SYSTEM,
        "sui_system",
        request_add_validator_for_testing=_inner("request_add_validator"),
        **{
            name: _inner(name)
            for name in (
                "epoch",
                "epoch_start_timestamp_ms",
                "validator_stake_amount",
                "validator_staking_pool_id",
                "validators",
                "get_reporters_of",
                "get_storage_fund_total_balance",
                "get_storage_fund_object_rebates",
            )
        },
    ),
}
