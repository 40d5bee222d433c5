"""The change of an epoch as the calls that it stands for.

What the epoch's transactions have paid is minted, distributed by `sui_system::advance_epoch`, and
what they got back is burnt. Source: `construct_advance_epoch_pt` in `execution_engine.rs` of
`sui-adapter`. The framework stays as it is: there are no other packages to upgrade to.
"""

from nexus_tools.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.address import SUI_FRAMEWORK, SUI_SYSTEM, SYSTEM_STATE
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.end_of_epoch import EndOfEpoch
from nexus_tools.sui.system_transaction import ChangeEpoch
from nexus_tools.sui.transaction import Argument, ProgrammableTransaction, SharedObject
from nexus_tools.sui.type_tag import SUI

_INITIAL_VERSION = 1

STORAGE_FUND_REINVEST_RATE = 500
"""How much of the storage fund's rewards stays in the fund, of 10 000."""

REWARD_SLASHING_RATE = 10_000
"""How much of its rewards a validator loses that the others report, of 10 000."""


def end_of_epoch(transaction: EndOfEpoch) -> ProgrammableTransaction:
    """The last transaction of an epoch, if all that it does is to change the epoch."""
    if len(transaction.steps) != 1 or not isinstance(transaction.steps[0], ChangeEpoch):
        steps = ", ".join(type(step).__name__ for step in transaction.steps)
        raise TransactionRefused(
            "unsupported",
            f"Feature is not supported: transactions of the kind EndOfEpoch with ({steps})",
        )
    return change_epoch(transaction.steps[0])


def change_epoch(change: ChangeEpoch) -> ProgrammableTransaction:
    """Mint the rewards, advance the epoch, burn the rebates."""
    if change.system_packages:
        raise TransactionRefused(
            "unsupported", "Feature is not supported: upgrades of system packages"
        )
    builder = TransactionBuilder()
    storage = _rewards(builder, change.storage_charge)
    computation = _rewards(builder, change.computation_charge)
    numbers = (
        change.epoch,
        change.protocol_version,
        change.storage_rebate,
        change.non_refundable_storage_fee,
        STORAGE_FUND_REINVEST_RATE,
        REWARD_SLASHING_RATE,
        change.epoch_start_timestamp_ms,
    )
    state = builder.resolved(SharedObject(SYSTEM_STATE, _INITIAL_VERSION, mutable=True))
    rebates = builder.move_call(
        SUI_SYSTEM,
        "sui_system",
        "advance_epoch",
        [storage, computation, state, *map(builder.u64, numbers)],
    )
    builder.move_call(SUI_FRAMEWORK, "balance", "destroy_storage_rebates", [rebates], [SUI])
    return builder.finish()


def _rewards(builder: TransactionBuilder, amount: int) -> Argument:
    return builder.move_call(
        SUI_FRAMEWORK, "balance", "create_staking_rewards", [builder.u64(amount)], [SUI]
    )
