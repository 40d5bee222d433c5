"""The draft of a transaction, which does not have gas data yet, and the check of its payment."""

from msgspec import Struct

from nexus_tools.sui.client.coins.coin_pool import GasSource, InsufficientFundsError, Payment
from nexus_tools.sui.client.coins.gas import MAX_BUDGET_MIST, budget_for
from nexus_tools.sui.client.epoch import Epoch
from nexus_tools.sui.client.transactions.transactions import SimulatedTransaction
from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.types.execution_status import ErrorKind, Success
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import ProgrammableTransaction


class Draft(Struct, frozen=True):
    """A transaction without its gas data.

    `withdrawn` is the maximum amount, in MIST, that the commands take from the gas coin. If the
    maximum is unknown, `withdrawn` is None.
    """

    kind: ProgrammableTransaction
    references: tuple[ObjectReference, ...]
    epoch: Epoch
    withdrawn: int | None
    source: GasSource


class OutdatedError(Exception):
    """A change of an object, the epoch or a balance, so the transaction must be built again."""

    def __init__(self, refusal: NexusError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def check_payment(draft: Draft, payment: Payment, simulated: SimulatedTransaction) -> None:
    """Raise `InsufficientFundsError` if the payment does not cover the commands and the gas budget.

    The budget of the simulation was the payment minus the amount that the commands take. If the
    budget were larger, the gas coin would not contain enough for the commands. The transaction
    would then fail on chain, and its gas would be charged.
    """
    available = payment.total
    withdrawn = draft.withdrawn or 0
    status = simulated.effects.status
    is_bounded = available - withdrawn < MAX_BUDGET_MIST
    if isinstance(status, Success):
        budget = budget_for(simulated.cost, draft.epoch.gas_price)
        if available < withdrawn + budget:
            raise InsufficientFundsError(withdrawn + budget, available, budget, draft.source)
    elif status.error.kind is ErrorKind.INSUFFICIENT_GAS and is_bounded:
        raise InsufficientFundsError(None, available, source=draft.source)
