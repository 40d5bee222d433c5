"""Calls as invocations on chain, which a Leader carries and closes, and their budget."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nexus_tools import units
from nexus_tools.client import Executed
from nexus_tools.errors import NexusError, NotNowError
from nexus_tools.lending.mcp.catalogue import Progress
from nexus_tools.lending.mcp.registered import Offer
from nexus_tools.package.move.invocation import InvocationExpired, InvocationRequested
from nexus_tools.registry import Invocations
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome


class Budget:
    """An amount in MIST that calls share; None is without end.

    What a call may cost is reserved while it runs, and what it did cost is spent for good.
    """

    def __init__(self, total_mist: int | None) -> None:
        self._total_mist = total_mist
        self._reserved_mist = 0
        self.spent_mist = 0

    @contextmanager
    def reserved(self, mist: int) -> Iterator["Reservation"]:
        """Hold an amount for a call. Raises `budget_spent` if there is not as much left."""
        self._require(mist)
        reservation = Reservation()
        self._reserved_mist += mist
        try:
            yield reservation
        finally:
            self._reserved_mist -= mist
            self.spent_mist += reservation.spent_mist

    def _require(self, mist: int) -> None:
        if self._total_mist is None:
            return
        left = self._total_mist - self.spent_mist - self._reserved_mist
        if mist > left:
            raise NotNowError(
                "budget_spent",
                f"the call may cost {units.sui(mist)}, and {units.sui(max(0, left))} are left of"
                f" the server's budget of {units.sui(self._total_mist)}",
                hint="the operator can start the server with a larger --budget",
            )


class Reservation:
    """What a call has cost so far, in MIST."""

    def __init__(self) -> None:
        self.spent_mist = 0


# --- The calls


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
        self._running: set[asyncio.Task[Outcome]] = set()

    async def call(self, offer: Offer, ports: dict[str, Any], progress: Progress) -> Outcome:
        """The outcome as the chain has it.

        Raises `budget_spent`, as `Invocations.request` does, or `not_closed` if no Leader works. A
        call that nobody waits for any more is carried on all the same: it is paid for.
        """
        listener = _Listener(progress)
        task = asyncio.create_task(self._call(offer, ports, listener))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        finally:
            listener.is_gone = True

    async def close(self) -> None:
        """Give up what still runs; invocations that stay open are named in a warning."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _call(self, offer: Offer, ports: dict[str, Any], listener: "_Listener") -> Outcome:
        tool = offer.found.tool
        limit = max(self._max_outcome_bytes, tool.min_outcome_bytes)
        prepaid = await self._invocations.quote(tool, ports, limit)
        named = await self._invocations.leaders_for(tool, self._leaders)
        terms: Any = {"leaders": named, "max_outcome_bytes": limit, "max_cost_mist": prepaid}
        rehearsed, _ = await self._invocations.rehearsal().request(tool, ports, **terms)
        with self._budget.reserved(prepaid + max(0, rehearsed.cost.net)) as reservation:
            sent, place = await self._invocations.request(tool, ports, **terms)
            assert isinstance(sent, Executed)
            reservation.spent_mist += prepaid + sent.cost.net
            requested = self._invocations.emitted(sent, InvocationRequested)
            await listener.hear(f"requested: invocation {place}, transaction {sent.digest}")
            await listener.hear(f"assigned to {_leaders(requested.leaders)}")
            outcome, digest = await self._closed(place, reservation)
        how = "failed" if isinstance(outcome, Failure) else "settled"
        await listener.hear(f"{how} in the transaction {digest}")
        return outcome

    async def _closed(self, place: Address, reservation: Reservation) -> tuple[Outcome, str]:
        """What an invocation came to, and in which transaction; it is deleted then."""
        try:
            outcome = await self._invocations.wait(place)
        except asyncio.CancelledError:
            self._warn(
                f"still open: `nexus-tools tool outcome {place} --delete` deletes it once it is"
                " closed or expired"
            )
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
            deleted = await self._invocations.delete(place)
            closing = closing or self._invocations.emitted(deleted, InvocationExpired)
        except NexusError as error:
            self._warn(f"the invocation {place} could not be deleted: {error.message}")
            return False
        reservation.spent_mist += deleted.cost.net - closing.refund_mist
        return True


class _Listener:
    """Whoever made the call, who may be gone before it ends."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.is_gone = False

    async def hear(self, sentence: str) -> None:
        if self.is_gone:
            return
        try:
            await self._progress(sentence)
        except Exception:  # noqa: BLE001 - the edge to a client: its going ends no paid call
            self.is_gone = True


def _leaders(leaders: tuple[Address, ...]) -> str:
    return f"the leader {leaders[0]}" + (f", or else {leaders[1]}" if leaders[1:] else "")


def _expired() -> NotNowError:
    return NotNowError("expired", "no leader closed the invocation in time: it cost its gas only")
