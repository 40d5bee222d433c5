"""The draft of a transaction, which does not have gas data yet, and the check of its payment."""

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.client.coins.coin_pool import GasSource, InsufficientFundsError, Payment
from nexus_tools.sui.client.coins.gas import MAX_BUDGET_MIST, budget_for
from nexus_tools.sui.client.epoch import Epoch
from nexus_tools.sui.client.transactions.transactions import SimulatedTransaction
from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.types.execution_status import ErrorKind, Success
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import ProgrammableTransaction

_GROWTH = 10


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


class PaymentRequest(Struct, frozen=True):
    """The arguments of `CoinPool.reserve` that do not depend on the commands of a transaction.

    The first attempt does not know the gas, so `required` and `wanted` are 0. They increase after
    an attempt with a payment that was too small.
    """

    source: GasSource
    since: int
    required: int = 0
    wanted: int = 0


class UnderpaidError(Exception):
    """A payment that is too small according to a simulation, so a larger payment is needed."""

    def __init__(self, shortage: InsufficientFundsError) -> None:
        super().__init__(str(shortage))
        self.shortage = shortage

    def larger_request(self, request: PaymentRequest) -> PaymentRequest:
        """Return the request for the next attempt.

        If the simulation did not determine the required amount, any larger payment may suffice. The
        next attempt then uses up to ten times the payment, so that few attempts are necessary.
        """
        required, available = self.shortage.required, self.shortage.available
        if required is not None:
            return replace(request, required=required)
        return replace(request, required=available + 1, wanted=_GROWTH * available)


class OutdatedError(Exception):
    """A change of an object, the epoch or a balance, so the transaction must be built again."""

    def __init__(self, refusal: NexusError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def check_payment(draft: Draft, payment: Payment, simulated: SimulatedTransaction) -> None:
    """Raise `UnderpaidError` if the payment does not cover the commands and the gas budget.

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
            required = withdrawn + budget
            raise UnderpaidError(InsufficientFundsError(required, available, budget, draft.source))
    elif status.error.kind is ErrorKind.INSUFFICIENT_GAS and is_bounded:
        raise UnderpaidError(InsufficientFundsError(None, available, source=draft.source))
