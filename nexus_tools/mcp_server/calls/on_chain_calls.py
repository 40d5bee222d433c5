"""Calls as invocations on chain, which a Leader carries and closes."""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.contracts.move_bindings.invocation import InvocationExpired, InvocationRequested
from nexus_tools.errors import NexusError, NotNowError
from nexus_tools.mcp_server.calls.budget import Budget, Reservation
from nexus_tools.mcp_server.calls.payment import Listener, PaidCalls, carried_by, told_if_given_up
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.catalogue.registry_catalogue import Offer
from nexus_tools.registry import Invocations, OutputInvalidError
from nexus_tools.sui.client import Executed
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome


class OnChainCalls:
    """Requests invocations within a budget, waits for their outcomes, and deletes them.

    `max_outcome_bytes` is how large an outcome may be; what it does not use is refunded. `leaders`
    is a list of one's own, as `Invocations.request` takes it. `warn` is told, in a sentence, what
    an operator has to do himself.
    """

    def __init__(
        self,
        invocations: Invocations,
        budget: Budget,
        warn: Callable[[str], None],
        *,
        max_outcome_bytes: int,
        leaders: Sequence[Address] = (),
    ) -> None:
        self._invocations = invocations
        self._budget = budget
        self._warn = warn
        self._max_outcome_bytes = max_outcome_bytes
        self._leaders = leaders
        self._paid = PaidCalls()

    async def call(self, offer: Offer, ports: dict[str, Any], progress: Progress) -> Outcome:
        """The outcome as the chain has it.

        Raises `budget_spent`, as `Invocations.request` does, or `not_closed` if no Leader works.
        Once it is paid, a call that nobody waits for any more is carried on all the same.
        """
        return await self._paid.carry(lambda listener: self._call(offer, ports, listener), progress)

    async def close(self) -> None:
        """Give up what still runs; invocations that stay open are named in a warning."""
        await self._paid.close()

    async def _call(self, offer: Offer, ports: dict[str, Any], listener: Listener) -> Outcome:
        tool = offer.found.tool
        limit = max(self._max_outcome_bytes, tool.min_outcome_bytes)
        prepaid = await self._invocations.quote(tool, ports, limit)
        named = await self._invocations.leaders_for(tool, self._leaders)
        terms: Any = {"leaders": named, "max_outcome_bytes": limit, "max_cost_mist": prepaid}
        rehearsed, _ = await self._invocations.rehearsal().request(tool, ports, **terms)
        most_mist = prepaid + max(0, rehearsed.cost.net)
        with self._budget.reserved(most_mist) as reservation:
            listener.require()
            with reservation.sending(most_mist, self._warn_of_request) as took:
                sent, place = await self._invocations.request(tool, ports, **terms)
                took(prepaid + sent.cost.net)
            with told_if_given_up(self._warn, _is_open(place)):
                assert isinstance(sent, Executed)
                requested = self._invocations.emitted(sent, InvocationRequested)
                await listener.hear(f"requested: invocation {place}, transaction {sent.digest}")
                await listener.hear(f"assigned to {carried_by(requested.leaders)}")
                outcome, digest = await self._closed(place, reservation)
        how = "failed" if isinstance(outcome, Failure) else "settled"
        await listener.hear(f"{how} in the transaction {digest}")
        return outcome

    def _warn_of_request(self, transaction: str) -> None:
        self._warn(
            f"{transaction} may have requested an invocation: `nexus-tools invocation list` lists"
            " those that are open"
        )

    async def _closed(self, place: Address, reservation: Reservation) -> tuple[Outcome, str]:
        """What an invocation came to, and in which transaction; it is deleted then."""
        try:
            outcome = await self._invocations.wait(place)
        except OutputInvalidError:  # it stays on chain, where the answer can be inspected
            closing = await self._invocations.closing(place)
            reservation.spent_mist -= closing.refund_mist if closing else 0
            raise
        except NotNowError as late:
            if await self._delete(place, reservation):
                raise _expired() from late
            raise
        try:
            closed = await self._invocations.client.object(place)
        finally:
            await self._delete(place, reservation)
        if isinstance(outcome, Failure) and outcome.reason is FailureReason.EXPIRED:
            raise _expired()
        return outcome, "" if closed is None else str(closed.previous_transaction)

    async def _delete(self, place: Address, reservation: Reservation) -> bool:
        """Take the refund and the rebate; that this fails does not make an outcome worse."""
        try:
            closing = await self._invocations.closing(place)
            with reservation.sending(0) as took:
                deleted = await self._invocations.delete(place)
                took(deleted.cost.net)
            closing = closing or self._invocations.emitted(deleted, InvocationExpired)
        except NexusError as error:
            self._warn(f"the invocation {place} could not be deleted: {error.message}")
            return False
        reservation.spent_mist -= closing.refund_mist
        return True


def _is_open(place: Address) -> str:
    return (
        f"still open: `nexus-tools tool outcome {place} --delete` deletes it once it is closed or"
        " expired"
    )


def _expired() -> NotNowError:
    return NotNowError("expired", "no leader closed the invocation in time: it cost its gas only")
