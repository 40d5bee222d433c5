"""Calls of tools as on-chain invocations, which a Leader dispatches and closes."""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.contracts.move_bindings.invocation import InvocationExpired, InvocationRequested
from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.mcp_server.calls.budget import Budget, Reservation
from nexus_tools.mcp_server.calls.payment import (
    CallClient,
    PaidCallRunner,
    describe_leaders,
    receipt_of,
    warn_if_cancelled,
)
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.catalogue.registry_catalogue import ToolOffer
from nexus_tools.mcp_server.receipt import INVOCATION
from nexus_tools.registry import Invocations, OutputInvalidError
from nexus_tools.sui.client import Executed
from nexus_tools.sui.support import units
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome


class OnChainCalls:
    """Calls that request invocations within a budget, wait for outcomes, and delete them.

    `max_outcome_bytes` is the maximum size of an outcome. Unused bytes are refunded. `leaders` is
    a list of preferred leaders, as in `Invocations.request`. `warn` is called with a sentence when
    an operator has to act.
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
        self._paid = PaidCallRunner()

    async def call(self, offer: ToolOffer, ports: dict[str, Any], progress: Progress) -> Outcome:
        """Request an invocation and return its on-chain outcome.

        A paid call continues even if its client has disconnected. The function also raises
        the errors of `Invocations.request`.

        Raises:
            WrongStateError: with code `budget_exhausted`, or `not_closed` if no Leader responds.
        """
        return await self._paid.run(lambda listener: self._call(offer, ports, listener), progress)

    async def close(self) -> None:
        """Cancel the running calls. A warning names the invocations that stay open."""
        await self._paid.close()

    async def _call(self, offer: ToolOffer, ports: dict[str, Any], listener: CallClient) -> Outcome:
        tool = offer.found.tool
        limit = max(self._max_outcome_bytes, tool.min_outcome_bytes)
        prepaid = await self._invocations.quote(tool, ports, limit)
        leaders = (await self._invocations.choose_leaders(tool, self._leaders)).leaders
        terms: Any = {"leaders": leaders, "max_outcome_bytes": limit, "max_cost_mist": prepaid}
        simulation, _ = await self._invocations.dry_run_client().request(tool, ports, **terms)
        most_mist = prepaid + max(0, simulation.cost.net)
        with (
            self._budget.reserved(most_mist) as reservation,
            receipt_of(reservation, INVOCATION) as receipt,
        ):
            listener.require()
            with reservation.sending(most_mist, self._warn_of_request) as took:
                sent, invocation_id = await self._invocations.request(tool, ports, **terms)
                took(prepaid + sent.cost.net)
            receipt.object_id = str(invocation_id)
            with warn_if_cancelled(self._warn, _open_warning(invocation_id)):
                assert isinstance(sent, Executed)
                requested = self._invocations.emitted(sent, InvocationRequested)
                await listener.notify(
                    f"requested: invocation {invocation_id}, transaction {sent.digest}"
                )
                await listener.notify(f"assigned to {describe_leaders(requested.leaders)}")
                outcome, digest = await self._closed(invocation_id, reservation)
        result = "failed" if isinstance(outcome, Failure) else "settled"
        paid = units.sui(reservation.spent_mist)
        await listener.notify(f"{result} in the transaction {digest}, paid {paid}")
        return outcome

    def _warn_of_request(self, transaction: str) -> None:
        self._warn(
            f"{transaction} may have requested an invocation. Run `nexus-tools invocation list` to"
            " list pending invocations"
        )

    async def _closed(self, place: Address, reservation: Reservation) -> tuple[Outcome, str]:
        """Return the outcome of an invocation and its transaction, and delete the invocation."""
        try:
            outcome = await self._invocations.wait(place)
        except (
            OutputInvalidError
        ):  # the invocation stays on chain, so that the operator can inspect the answer
            closing = await self._invocations.closing_event(place)
            reservation.spent_mist -= closing.refund_mist if closing else 0
            raise
        except WrongStateError as late:
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
        """Delete the invocation for its refund and rebate. Return True if it was deleted."""
        try:
            closing = await self._invocations.closing_event(place)
            with reservation.sending(0) as took:
                deleted = await self._invocations.delete(place)
                took(deleted.cost.net)
            closing = closing or self._invocations.emitted(deleted, InvocationExpired)
        except NexusError as error:
            self._warn(f"cannot delete the invocation {place}: {error.message}")
            return False
        reservation.spent_mist -= closing.refund_mist
        return True


def _open_warning(invocation_id: Address) -> str:
    return (
        f"the invocation {invocation_id} is still open. Run"
        f" `nexus-tools tool outcome {invocation_id} --wait` to see its outcome. Then add --delete"
        " to get its storage deposit"
    )


def _expired() -> WrongStateError:
    return WrongStateError("expired", "no leader closed the invocation in time. Only gas was spent")
