"""Calls as invocations on chain, which a Leader carries to the tool and settles."""

import asyncio
from typing import Any

from nexus_tools.bridges.mcp import Progress
from nexus_tools.cli.mcp.budget import Budget, Reservation
from nexus_tools.cli.mcp.offers import Offer
from nexus_tools.cli.output import Output
from nexus_tools.cli.tool.outcome import closed_invocation, read_outcome, take_back
from nexus_tools.client import Executed
from nexus_tools.errors import NexusError, NotNowError
from nexus_tools.registry import Invocations
from nexus_tools.registry.events import InvocationRequested
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome


class OnChainCalls:
    """Requests invocations within a budget, waits for their outcomes, and deletes them.

    `max_outcome_bytes` is how large an outcome may be; what it does not use comes back.
    """

    def __init__(
        self, invocations: Invocations, budget: Budget, output: Output, *, max_outcome_bytes: int
    ) -> None:
        self._invocations = invocations
        self._budget = budget
        self._output = output
        self._max_outcome_bytes = max_outcome_bytes
        self._running: set[asyncio.Task[Outcome | Failure]] = set()

    async def call(
        self, offer: Offer, ports: dict[str, Any], progress: Progress
    ) -> Outcome | Failure:
        """The outcome as the chain has it.

        Raises `budget_spent`, as `Invocations.request` does, or `not_closed` if no Leader works. A
        call that nobody waits for any more is brought to its end all the same: it is paid for.
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
        """Give up what still runs; invocations that stay open are named on stderr."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _call(
        self, offer: Offer, ports: dict[str, Any], listener: "_Listener"
    ) -> Outcome | Failure:
        tool, limit = offer.found.tool, self._max_outcome_bytes
        prepaid = await self._invocations.quote(tool, ports, limit)
        terms = {"max_outcome_bytes": limit, "max_cost_mist": prepaid}
        rehearsed, _ = await self._invocations.rehearsal().request(tool, ports, **terms)
        with self._budget.reserved(prepaid + max(0, rehearsed.cost.net)) as reservation:
            sent, place = await self._invocations.request(tool, ports, **terms)
            assert isinstance(sent, Executed)
            reservation.spent_mist += prepaid + sent.cost.net
            requested = self._invocations.emitted(sent, InvocationRequested)
            await listener.hear(f"requested: invocation {place}, transaction {sent.digest}")
            await listener.hear(f"assigned to {_leaders(requested.leaders)}")
            document = await self._closed(place, reservation)
        await listener.hear(f"{document['state']} in the transaction {document['digest']}")
        return _came_back(document)

    async def _closed(self, place: Address, reservation: Reservation) -> dict[str, Any]:
        """What the chain says of an invocation in the end; it is deleted then."""
        try:
            await closed_invocation(self._invocations, place)
        except asyncio.CancelledError:
            self._output.warn(f"still open: `nexus-tools tool outcome {place} --delete` ends it")
            raise
        except NotNowError as late:
            if await self._delete(place, reservation):
                raise _expired() from late
            raise
        try:
            return await read_outcome(self._invocations, place)
        finally:
            await self._delete(place, reservation)

    async def _delete(self, place: Address, reservation: Reservation) -> bool:
        """Take back what was not spent; that this fails does not make an outcome worse."""
        try:
            unspent = (await self._invocations.get(place)).funds_mist
            deleted = await take_back(self._invocations, place)
        except NexusError as error:
            self._output.warn(f"the invocation {place} could not be deleted: {error.message}")
            return False
        reservation.spent_mist += deleted.cost.net - unspent
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


def _came_back(document: dict[str, Any]) -> Outcome | Failure:
    if document["state"] == "settled":
        return Outcome(document["variant"], document["ports"])
    if document["state"] == "failed":
        return Failure(FailureReason(document["reason"]), document["detail"])
    raise _expired()


def _expired() -> NotNowError:
    return NotNowError("expired", "no leader closed the invocation in time: it cost its gas only")
