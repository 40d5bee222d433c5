"""Calls of workflows as executions, which Leaders dispatch."""

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
    ExecutionUnderfunded,
)
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
from nexus_tools.mcp_server.catalogue.workflow_catalogue import WorkflowOffer
from nexus_tools.mcp_server.catalogue.workflow_definition import variant_of
from nexus_tools.mcp_server.receipt import EXECUTION
from nexus_tools.registry import (
    OF_EXECUTIONS,
    RUN_EVENTS,
    ExecutionEventFilter,
    Executions,
    ExecutionState,
    StartedExecution,
)
from nexus_tools.sui.client import Cursor, EventRecord, Executed, follow_events
from nexus_tools.sui.support import units
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import Answer, Outcome
from nexus_tools.workflow import Plan, Run

# The time in s that an execution has, after its deadline, to end without a transaction of ours.
_GRACE_S = 10.0

# The further time in s for pending invocations: two windows of at most three minutes each.
_CLOSING_S = 370.0


class ExecutionCaller:
    """Calls that start executions within a budget and follow them to their ends.

    Executions are not deleted, because their results are on chain. `leaders` is a list of preferred
    leaders, as in `Executions.start`. `warn` is called with a sentence when an operator has to act.
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
        self._paid = PaidCallRunner()

    async def call(
        self, offer: WorkflowOffer, arguments: Mapping[str, Any], progress: Progress
    ) -> Outcome:
        """Run an execution and return its outcome. The variant says how the execution ended.

        A paid call continues even if its client has disconnected. The function also raises
        the errors of `Executions.start`.

        Raises:
            WrongStateError: with code `budget_exhausted`, or `execution_not_followed` if the end of
                the execution is unknown.
        """
        group, inputs = offer.definition.chosen(arguments)
        return await self._paid.run(
            lambda listener: self._call(offer, group, inputs, listener), progress
        )

    async def close(self) -> None:
        """Cancel the running calls. A warning names the executions that continue."""
        await self._paid.close()

    async def _call(
        self, offer: WorkflowOffer, group: str | None, inputs: dict[str, Any], listener: CallClient
    ) -> Outcome:
        workflow, funds_mist = offer.workflow, offer.funds_mist
        choice = await self._executions.choose_leaders(workflow, self._leaders)
        terms: Any = {
            "group": group,
            "funds_mist": funds_mist,
            "leaders": choice.leaders,
            "max_outcome_bytes": offer.max_outcome_bytes,
            "duration_ms": offer.definition.timeout_ms,
        }
        simulation = await self._executions.dry_run_client().start(workflow, inputs, **terms)
        most_mist = funds_mist + max(0, simulation.sent.cost.net)
        with (
            self._budget.reserved(most_mist) as reservation,
            receipt_of(reservation, EXECUTION) as receipt,
        ):
            since = Cursor.after_checkpoint(await self._executions.client.latest_checkpoint())
            listener.require()
            with reservation.sending(most_mist, self._warn_of_start) as took:
                started = await self._executions.start(workflow, inputs, **terms)
                took(self._taken_mist(started))
            receipt.object_id = str(started.execution)
            with warn_if_cancelled(self._warn, _continues(started.execution)):
                assert isinstance(started.sent, Executed)
                digest = started.sent.digest
                await listener.notify(
                    f"started: execution {started.execution}, transaction {digest}"
                )
                await listener.notify(f"assigned to {describe_leaders(started.leaders)}")
                tracked = _TrackedExecution(started.execution, workflow.plan, listener, since)
                state = await self._ended(offer, tracked, reservation)
        paid = units.sui(reservation.spent_mist)
        await listener.notify(f"{state.status.replace('_', ' ')}, paid {paid}")
        return _answer(state, tracked.is_short)

    def _warn_of_start(self, transaction: str) -> None:
        self._warn(
            f"{transaction} may have started an execution. Run `nexus-tools workflow executions` to"
            " list your executions"
        )

    def _taken_mist(self, started: StartedExecution) -> int:
        """Return the amount that the start took from the wallet, in MIST.

        The amount consists of funds and gas, minus immediate payments. The account that requests a
        run is paid for storing its data. The start requests the first runs, so the wallet's address
        balance receives these payments. If both the address balance and a coin pay gas, the
        payments cannot be determined and count as 0.
        """
        effects = started.sent.effects
        balance_change = effects.address_balance_change(self._executions.client.address, SUI)
        if effects.gas_object_index is None:
            return -balance_change
        return started.funds_mist + started.sent.cost.net - max(0, balance_change)

    async def _ended(
        self, offer: WorkflowOffer, followed: "_TrackedExecution", reservation: Reservation
    ) -> ExecutionState:
        """Return the ended execution, and subtract its refund from the reservation.

        Raises:
            WrongStateError: with code `execution_not_followed` if the end of the execution is
                unknown.
        """
        execution_id = followed.execution
        try:
            end_event = await self._end(offer, followed, reservation)
            reservation.spent_mist -= end_event.refund_mist
            return await self._executions.state(execution_id)
        except NexusError as error:
            raise WrongStateError(
                "execution_not_followed",
                f"the end of the execution {execution_id} is unknown: {error.message}",
                hint=f"Run `nexus-tools workflow show {execution_id}` to see its state.",
                details={"execution": str(execution_id)},
            ) from error

    async def _end(
        self, offer: WorkflowOffer, followed: "_TrackedExecution", reservation: Reservation
    ) -> ExecutionEnded:
        """Follow an execution until it ends, and end it here if it exceeds its deadline.

        Raises:
            WrongStateError: with code `execution_not_ended`.
        """
        for patience_s in (offer.definition.timeout_ms / 1_000 + _GRACE_S, _CLOSING_S):
            try:
                async with asyncio.timeout(patience_s):
                    return await self._follow(followed, reservation)
            except TimeoutError:
                # No Leader ended the execution, so end it here and collect its remaining funds.
                with reservation.sending(0) as took:
                    transaction = await self._executions.expire(followed.execution)
                    took(transaction.cost.net)
            assert isinstance(transaction, Executed)  # only dry runs simulate
            if self._executions.has_emitted(transaction, ExecutionRefunded):
                refunded = self._executions.emitted(transaction, ExecutionRefunded)
                reservation.spent_mist -= followed.refund(transaction.digest, refunded)
            if self._executions.has_emitted(transaction, ExecutionEnded):
                return self._executions.emitted(transaction, ExecutionEnded)
            # Pending invocations will be closed or expire. The next attempt then ends the
            # execution.
        raise WrongStateError("execution_not_ended", "one of its runs is still pending")

    async def _follow(
        self, followed: "_TrackedExecution", reservation: Reservation
    ) -> ExecutionEnded:
        """Follow an execution to its end, and cancel it if its funds do not suffice."""
        client, deployment = self._executions.client, self._executions.deployment
        kinds = event_filter(deployment, *OF_EXECUTIONS, *RUN_EVENTS)
        async with aclosing(follow_events(client, kinds, followed.since)) as items:
            async for item in items:
                if isinstance(item, EventRecord):
                    end_event = await self._handle_event(item, followed, reservation)
                    if end_event is not None:
                        return end_event
                followed.since = item.cursor
        raise AssertionError("events are followed without end")

    async def _handle_event(
        self, record: EventRecord, followed: "_TrackedExecution", reservation: Reservation
    ) -> ExecutionEnded | None:
        """Handle an event, and return it if it is the end of the execution."""
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

    async def _is_stuck(self, followed: "_TrackedExecution") -> bool:
        """Return whether the funds do not suffice and no pending run can refund any funds."""
        execution = await self._executions.get(followed.execution)
        is_over = execution.ended_at_ms is not None or execution.progress.ending is not None
        return (
            not is_over
            and not execution.progress.in_flight
            and execution.funds < followed.needed_mist
        )


class _TrackedExecution:
    """An execution whose steps after `since` are reported to the caller."""

    def __init__(self, execution: Address, plan: Plan, listener: CallClient, since: Cursor) -> None:
        self.execution = execution
        self.since = since
        self.needed_mist = 0
        self._vertices = tuple(plan.vertices)
        self._listener = listener
        self._following = ExecutionEventFilter(execution)
        self._refunds: set[Digest] = set()

    def refund(self, transaction: Digest, event: ExecutionRefunded) -> int:
        """Return the amount of a refund in MIST, or 0 if it was already counted."""
        amount_mist = 0 if transaction in self._refunds else event.amount_mist
        self._refunds.add(transaction)
        return amount_mist

    @property
    def is_short(self) -> bool:
        """Whether the funds failed to cover a step at least once."""
        return self.needed_mist > 0

    async def takes(self, event: RegistryEvent) -> bool:
        """Return whether an event concerns the execution. Report the end of a run."""
        if not self._following.is_wanted(event):
            return False
        if isinstance(event, ExecutionUnderfunded):
            self.needed_mist = event.needed_mist
        attempt = self._following.attempts.get(getattr(event, "invocation", self.execution))
        if attempt is not None and not isinstance(event, ExecutionAdvanced):
            sentence = self._sentence(event, attempt)
            if sentence:
                await self._listener.notify(sentence)
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


def _continues(execution_id: Address) -> str:
    return (
        f"the execution {execution_id} continues. Run `nexus-tools workflow watch {execution_id}`"
        f" to follow it, or `nexus-tools workflow cancel {execution_id}` to end it"
    )


def _answer(state: ExecutionState, lacked_funds: bool) -> Answer:
    """Return the end of an execution as the answer of a tool."""
    ports: dict[str, Any] = {"execution": str(state.execution.id), "outputs": state.outputs()}
    if state.early_end_reason:
        cause = ", because its funds did not cover its next step" if lacked_funds else ""
        ports = {"reason": f"{state.early_end_reason}{cause}"} | ports
    if state.failures:
        ports["failures"] = [failure.message for failure in state.failures]
    if state.waiting:
        ports["waiting"] = [step.message for step in state.waiting]
    return Answer(variant_of(state.status), ports)
