"""Calls as executions of workflows, which Leaders carry."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from nexus_tools.contracts import RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionAdvanced,
    ExecutionEnded,
    ExecutionRefunded,
    ExecutionShort,
)
from nexus_tools.errors import NexusError, NotNowError
from nexus_tools.mcp_server.calls.budget import Budget, Reservation
from nexus_tools.mcp_server.calls.payment import Listener, PaidCalls, carried_by, told_if_given_up
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.catalogue.workflow_catalogue import WorkflowOffer
from nexus_tools.mcp_server.catalogue.workflow_definition import variant_of
from nexus_tools.registry import (
    OF_EXECUTIONS,
    OF_RUNS,
    BegunExecution,
    Executions,
    ExecutionState,
    Following,
)
from nexus_tools.sui.client import Cursor, EventRecord, Executed, follow_events
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import Answer, Outcome
from nexus_tools.workflow import Plan, Run

# How long after its time an execution may take to end by itself.
_GRACE_S = 10.0

# How long what is under way then may take: two windows of three minutes, which are the longest.
_CLOSING_S = 370.0


class ExecutionCalls:
    """Begins executions within a budget, and follows them to their ends.

    What they stored stays on chain, for their results are there. `leaders` is a list of one's own,
    as `Executions.begin` takes it. `warn` is told, in a sentence, what an operator has to do
    himself.
    """

    def __init__(
        self,
        executions: Executions,
        budget: Budget,
        warn: Callable[[str], None],
        *,
        leaders: Sequence[Address] = (),
    ) -> None:
        self._executions = executions
        self._budget = budget
        self._warn = warn
        self._leaders = leaders
        self._paid = PaidCalls()

    async def call(
        self, offer: WorkflowOffer, arguments: Mapping[str, Any], progress: Progress
    ) -> Outcome:
        """What an execution comes to; its variant says how it ended.

        Raises `budget_spent`, as `Executions.begin` does, or `not_followed` where nobody knows how
        it ends. Once it is paid, a call that nobody waits for any more is carried on all the same.
        """
        group, inputs = offer.definition.chosen(arguments)
        return await self._paid.carry(
            lambda listener: self._call(offer, group, inputs, listener), progress
        )

    async def close(self) -> None:
        """Give up what still runs; executions that go on are named in a warning."""
        await self._paid.close()

    async def _call(
        self, offer: WorkflowOffer, group: str | None, inputs: dict[str, Any], listener: Listener
    ) -> Outcome:
        workflow, funds_mist = offer.workflow, offer.funds_mist
        terms: Any = {
            "group": group,
            "funds_mist": funds_mist,
            "leaders": await self._executions.leaders_for(workflow, self._leaders),
            "max_outcome_bytes": offer.max_outcome_bytes,
            "lasts_ms": offer.definition.timeout_ms,
        }
        rehearsed = await self._executions.rehearsal().begin(workflow, inputs, **terms)
        most_mist = funds_mist + max(0, rehearsed.sent.cost.net)
        with self._budget.reserved(most_mist) as reservation:
            since = Cursor.after_checkpoint(await self._executions.client.latest_checkpoint())
            listener.require()
            with reservation.sending(most_mist, self._warn_of_beginning) as took:
                begun = await self._executions.begin(workflow, inputs, **terms)
                took(self._taken_mist(begun))
            with told_if_given_up(self._warn, _goes_on(begun.execution)):
                assert isinstance(begun.sent, Executed)
                digest = begun.sent.digest
                await listener.hear(f"began: execution {begun.execution}, transaction {digest}")
                await listener.hear(f"carried by {carried_by(begun.leaders)}")
                followed = _Followed(begun.execution, workflow.plan, listener, since)
                state = await self._ended(offer, followed, reservation)
        await listener.hear(f"{state.status.replace('_', ' ')}")
        return _answer(state, followed.is_short)

    def _warn_of_beginning(self, transaction: str) -> None:
        self._warn(
            f"{transaction} may have begun an execution: `nexus-tools workflow executions` lists"
            " yours"
        )

    def _taken_mist(self, begun: BegunExecution) -> int:
        """What beginning took from the wallet: funds and gas, without what came back at once.

        Whoever requests a run is paid what it stores, and the first ones are requested here: that
        comes into the address balance. Where gas comes from there as well as from a coin, what came
        back cannot be told, and is taken for nothing.
        """
        effects = begun.sent.effects
        change = effects.address_balance_change(self._executions.client.address, SUI)
        if effects.gas_object_index is None:
            return -change
        return begun.funds_mist + begun.sent.cost.net - max(0, change)

    async def _ended(
        self, offer: WorkflowOffer, followed: "_Followed", reservation: Reservation
    ) -> ExecutionState:
        """The execution once it has ended; what it left is spent no more. Raises `not_followed`."""
        place = followed.execution
        try:
            ended = await self._end(offer, followed, reservation)
            reservation.spent_mist -= ended.refund_mist
            return await self._executions.state(place)
        except NexusError as error:
            raise NotNowError(
                "not_followed",
                f"how the execution {place} ends is not known: {error.message}",
                hint=f"`nexus-tools workflow show {place}` shows how far it is",
                details={"execution": str(place)},
            ) from error

    async def _end(
        self, offer: WorkflowOffer, followed: "_Followed", reservation: Reservation
    ) -> ExecutionEnded:
        """Follow an execution until it ends by itself, or is ended here. Raises `not_ended`."""
        for patience_s in (offer.definition.timeout_ms / 1_000 + _GRACE_S, _CLOSING_S):
            try:
                async with asyncio.timeout(patience_s):
                    return await self._follow(followed, reservation)
            except TimeoutError:
                # No Leader ended it, so it is done here, for what it has left.
                with reservation.sending(0) as took:
                    sent = await self._executions.expire(followed.execution)
                    took(sent.cost.net)
            assert isinstance(sent, Executed)  # it is no rehearsal
            if self._executions.has_emitted(sent, ExecutionRefunded):
                refunded = self._executions.emitted(sent, ExecutionRefunded)
                reservation.spent_mist -= followed.refund(sent.digest, refunded)
            if self._executions.has_emitted(sent, ExecutionEnded):
                return self._executions.emitted(sent, ExecutionEnded)
            # What is under way is still closed, or expires, and then the next try ends it.
        raise NotNowError("not_ended", "a run of it is still under way")

    async def _follow(self, followed: "_Followed", reservation: Reservation) -> ExecutionEnded:
        """Follow an execution to its end, and cancel it where its funds do not let it go on."""
        client, deployment = self._executions.client, self._executions.deployment
        kinds = event_filter(deployment, *OF_EXECUTIONS, *OF_RUNS)
        async with aclosing(follow_events(client, kinds, followed.since)) as items:
            async for item in items:
                if isinstance(item, EventRecord):
                    ended = await self._take(item, followed, reservation)
                    if ended is not None:
                        return ended
                followed.since = item.cursor
        raise AssertionError("events are followed without end")

    async def _take(
        self, record: EventRecord, followed: "_Followed", reservation: Reservation
    ) -> ExecutionEnded | None:
        """Act on an event; return it if it is the end of the execution."""
        event = parse_event(self._executions.deployment, record.event)
        if not event or not await followed.takes(event):
            return None
        if isinstance(event, ExecutionRefunded):
            reservation.spent_mist -= followed.refund(record.transaction_digest, event)
        if isinstance(event, ExecutionEnded):
            return event
        if followed.is_short and await self._is_stuck(followed):
            with reservation.sending(0) as took:
                took((await self._executions.cancel(followed.execution)).cost.net)
        return None

    async def _is_stuck(self, followed: "_Followed") -> bool:
        """Whether it is short of funds, and nothing is under way that could bring some back."""
        found = await self._executions.get(followed.execution)
        is_over = found.ended_at_ms is not None or found.walks.ending is not None
        return not is_over and not found.walks.under_way and found.funds < followed.needed_mist


class _Followed:
    """An execution whose steps are told to whoever called it, those after `since`."""

    def __init__(self, execution: Address, plan: Plan, listener: Listener, since: Cursor) -> None:
        self.execution = execution
        self.since = since
        self.needed_mist = 0
        self._vertices = tuple(plan.vertices)
        self._listener = listener
        self._following = Following(execution)
        self._refunds: set[Digest] = set()

    def refund(self, transaction: Digest, event: ExecutionRefunded) -> int:
        """Return the amount of a refund in MIST, or 0 if it is counted already."""
        amount_mist = 0 if transaction in self._refunds else event.amount_mist
        self._refunds.add(transaction)
        return amount_mist

    @property
    def is_short(self) -> bool:
        """Whether its funds did not cover a step, once at least."""
        return self.needed_mist > 0

    async def takes(self, event: RegistryEvent) -> bool:
        """Whether an event is about it; if it is the end of a run, that is told."""
        if not self._following.is_wanted(event):
            return False
        if isinstance(event, ExecutionShort):
            self.needed_mist = event.needed_mist
        attempt = self._following.attempts.get(getattr(event, "invocation", self.execution))
        if attempt is not None and not isinstance(event, ExecutionAdvanced):
            sentence = self._sentence(event, attempt)
            if sentence:
                await self._listener.hear(sentence)
        return True

    def _sentence(self, event: RegistryEvent, attempt: Attempt) -> str:
        run = Run(self._vertices[attempt.run.vertex], tuple(attempt.run.path))
        match event:
            case InvocationSettled():
                return f"{run}: {event.variant}"
            case InvocationFailed():
                detail = f": {one_line(event.detail)}" if event.detail else ""
                return f"{run} failed, {event.reason}{detail}"
            case InvocationExpired():
                return f"{run} expired"
        return ""


def _goes_on(place: Address) -> str:
    return (
        f"the execution {place} goes on: `nexus-tools workflow watch {place}` follows it,"
        f" `nexus-tools workflow cancel {place}` ends it"
    )


def _answer(state: ExecutionState, was_short: bool) -> Answer:
    """The end of an execution as the answer of a tool."""
    ports: dict[str, Any] = {"execution": str(state.execution.id), "outputs": state.outputs()}
    if state.early_end:
        why = ", for its funds did not cover its next step" if was_short else ""
        ports = {"reason": f"{state.early_end}{why}"} | ports
    if state.failures:
        ports["failures"] = [each.sentence for each in state.failures]
    if state.waiting:
        ports["waiting"] = [each.sentence for each in state.waiting]
    return Answer(variant_of(state.status), ports)
