"""Executions of workflows, with methods to start, read, refill, cancel and clean up."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nexus_tools.contracts import (
    PackageClient,
    Sent,
    event_filter,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows import schedule as schedules
from nexus_tools.contracts.move_bindings.workflows.execution import (
    Execution,
    ExecutionEnded,
    ExecutionStarted,
)
from nexus_tools.errors import NotFoundError, UsageError, WrongStateError
from nexus_tools.registry.executions.cleanup import (
    OWNER_ONLY_MS,
    add_due_advances,
    expire_pending,
    plan_cleanup,
)
from nexus_tools.registry.executions.costs import ExecutionCost
from nexus_tools.registry.executions.history import read_execution_history, spent_mist
from nexus_tools.registry.executions.listing import ListedExecution, read_started
from nexus_tools.registry.executions.records import execution_unknown_error
from nexus_tools.registry.executions.state import ExecutionState, read_state
from nexus_tools.registry.executions.step_commands import StepCommands, StepPredictor
from nexus_tools.registry.executions.terms import DEFAULT_STEPS, Terms, TermsResolver
from nexus_tools.registry.executions.waits import Wait, read_waits
from nexus_tools.registry.invocations.history import Step
from nexus_tools.registry.leaders.listing import LeaderRef
from nexus_tools.registry.leaders.selection import LeaderChoice
from nexus_tools.registry.pages import PAGE_SIZE, Page
from nexus_tools.registry.preconditions import check_execution_owner
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import CHAIN_ROLLED_BACK, Cursor, EventRecord, follow_events
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import MAX_EXECUTION_MS

DEFAULT_DURATION_MS = 24 * 60 * 60 * 1_000
"""The default time from the start of an execution to its deadline."""


@dataclass(frozen=True, slots=True)
class StartedExecution:
    """A started execution: its transaction, ID, funds in MIST, leaders and estimated cost.

    `max_prices_mist` and `max_outcome_bytes` are the limits that the caller of `Executions.start`
    passed, or the defaults.
    """

    sent: Sent
    execution: Address
    funds_mist: int
    leaders: tuple[Address, ...]
    cost: ExecutionCost
    max_prices_mist: Mapping[str, int]
    max_outcome_bytes: int


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """The transactions of a cleanup. `unsent` counts the transactions that a dry run skipped."""

    sent: tuple[Sent, ...]
    unsent: int = 0

    @property
    def returned_mist(self) -> int:
        """The storage rebate minus the gas, in MIST, which is negative for a low rebate."""
        return -sum(transaction.cost.net for transaction in self.sent)


@validate_arguments
class Executions(PackageClient):
    """The executions of a deployment. Anyone may read and refill an execution.

    In addition to the documented errors, every method raises the errors of `SuiClient`.
    """

    # --- Starting

    async def estimate_cost(
        self,
        workflow: PublishedWorkflow,
        *,
        group: str | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> ExecutionCost:
        """Estimate the cost of an execution. Raises `group_unknown` or `group_missing`."""
        return await self._consent.estimate_cost(
            workflow, group=group, max_outcome_bytes=max_outcome_bytes, max_steps=max_steps
        )

    async def choose_leaders(
        self, workflow: PublishedWorkflow, among: Sequence[LeaderRef] = ()
    ) -> LeaderChoice:
        """Return one or two active leaders that an execution can name. Raises `no_leader`."""
        return await self._consent.choose_workflow_leaders(workflow, among)

    async def start(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        funds_mist: int | None = None,
        leaders: Sequence[LeaderRef] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
        duration_ms: int = DEFAULT_DURATION_MS,
    ) -> StartedExecution:
        """Start an execution and request its first runs, in one transaction.

        `inputs` maps the workflow's input names to JSON values. The default of `funds_mist` is
        `ExecutionCost.recommended_mist`. Unused funds are refunded at the end. The execution names
        the first two active leaders of `leaders`, or by default two random leaders that the tools
        accept. `max_prices_mist` maps FQNs to the highest accepted price, by default the current
        price.

        All checks run before any payment. Raises `UsageError` for wrong inputs and entry groups,
        `input_invalid`, `duration_too_long`, `duration_too_short`, `tool_unknown`,
        `tool_not_active`, `price_too_high`, `tool_without_key`, `outcome_limit_too_small`,
        `outcome_limit_too_large`, `no_leader` and `funds_too_small`.
        """
        if not duration_ms:
            raise UsageError("duration_too_short", "the duration of an execution must not be 0")
        if duration_ms > MAX_EXECUTION_MS:
            raise UsageError(
                "duration_too_long", "the duration of an execution must be at most 90 days"
            )
        terms = await self._consent.terms(
            workflow,
            inputs,
            group=group,
            leaders=leaders,
            max_prices_mist=max_prices_mist,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=max_steps,
        )
        cost = terms.cost
        if funds_mist is None:
            funds_mist = terms.recommended_mist
        if funds_mist < cost.start_mist:
            raise WrongStateError(
                "funds_too_small",
                f"the funds are too small: the first runs cost up to {sui(cost.start_mist)}, got"
                f" {sui(funds_mist)}",
                hint="Pass more funds. The unused part is refunded at the end.",
            )
        builder = self._start_transaction(
            workflow, terms, funds_mist, max_steps=max_steps, duration_ms=duration_ms
        )
        sent = await self.send(builder)
        event = self.emitted(sent, ExecutionStarted)
        prices, size = terms.prices_of(workflow), terms.max_outcome_bytes
        return StartedExecution(
            sent, event.execution, funds_mist, terms.leaders, cost, prices, size
        )

    def _start_transaction(
        self,
        workflow: PublishedWorkflow,
        terms: Terms,
        funds_mist: int,
        *,
        max_steps: int,
        duration_ms: int,
    ) -> TransactionBuilder:
        builder, package, plan = TransactionBuilder(), self.deployment.workflows, workflow.plan
        execution = calls.start(
            builder,
            package,
            self.deployment.leader_registry,
            terms.settings.revision,
            workflow.id,
            terms.group,
            terms.leaders[0],
            terms.max_prices_mist,
            terms.max_timeout_ms,
            terms.max_outcome_bytes,
            max_steps,
            duration_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for backup in terms.leaders[1:]:
            calls.set_backup(builder, package, execution, backup)
        for vertex, ports in terms.values.items():
            arguments = make_ports(builder, self.deployment.package, ports_of(ports))
            calls.add_entry_values(builder, package, execution, vertex, arguments)
        predictor = StepPredictor(plan)
        predictor.add_start([*plan.groups][terms.group])
        commands = StepCommands(self.deployment, workflow.id, plan)
        for step in predictor.steps():
            commands.add(builder, execution, terms.leaders[0], step)
        calls.share(builder, package, execution)
        return builder

    # --- Reading

    async def find(self, execution: Address) -> Execution | None:
        """Return an execution, or None if it does not exist or was cleaned up."""
        value = await self.client.object(execution)
        is_one = value is not None and value.type == self.deployment.type_of(Execution)
        return self.decode(value, Execution) if is_one else None

    async def get(self, execution: Address) -> Execution:
        """Return an execution. Raises `execution_unknown` or `object_of_another_type`."""
        value = await self.client.object(execution)
        if value is None:
            raise execution_unknown_error(execution)
        return self.deployment.decode(value, Execution)

    async def state(self, execution: Address) -> ExecutionState:
        """Return an execution with its runs and results. Raises `execution_unknown`."""
        current = await self.get(execution)
        workflow = await Workflows(self.client, self.deployment).by_id(current.dag)
        return await read_state(self, current, workflow)

    async def wait_reasons(self, state: ExecutionState) -> tuple[Wait, ...]:
        """Return the reasons why a running execution waits, such as an answer or missing funds."""
        return await read_waits(self, state)

    async def spent_mist(self, state: ExecutionState) -> int | None:
        """Return the funds that an ended execution spent, or None if its events are missing."""
        if not state.is_ended:
            return None
        return spent_mist(await self.history(state.execution.id))

    async def list(
        self,
        owner: Address | None = None,
        *,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
        running: bool = False,
        deleted: bool = True,
    ) -> Page[ListedExecution]:
        """Return executions that an address (default: the wallet) started, newest first.

        `Schedules.executions` returns the executions of a schedule, which keepers start. With
        `running`, omit ended executions. Without `deleted`, omit deleted executions.
        """
        starter = owner or self.client.address
        return await read_started(self, starter, limit, before, running=running, deleted=deleted)

    async def history(self, execution: Address) -> tuple[Step, ...]:
        """Return the events that the node has of an execution, in order.

        Reading stops after the execution's last 1 000 transactions. The execution may be deleted if
        at most 1 000 executions were deleted after it.
        """
        return await read_execution_history(self, execution)

    async def wait(self, execution: Address) -> ExecutionState:
        """Wait until the execution has ended, and return its state.

        To limit the wait, use `asyncio.timeout`. Raises `execution_unknown`.
        """
        kinds = event_filter(self.deployment, ExecutionEnded)
        while True:
            try:
                has_read = False
                async with aclosing(follow_events(self.client, kinds)) as items:
                    async for item in items:
                        if has_read and not self._is_end(item, execution):
                            continue
                        has_read = True  # later changes arrive as events
                        if (await self.get(execution)).ended_at_ms is not None:
                            return await self.state(execution)
            except NotFoundError as error:
                if error.code != CHAIN_ROLLED_BACK:
                    raise  # after a rollback, read the execution again

    def _is_end(self, item: object, execution: Address) -> bool:
        if not isinstance(item, EventRecord):
            return False
        ended = parse_event(self.deployment, item.event)
        return isinstance(ended, ExecutionEnded) and ended.execution == execution

    # --- Changes

    async def refill(self, execution: Address, amount_mist: int) -> Sent:
        """Add to the funds of an execution. The sender may be anyone.

        Raises `amount_zero`, `execution_unknown` or `execution_ended`.
        """
        if not amount_mist:
            raise UsageError(
                "amount_zero",
                f"the amount must be positive, got {sui(amount_mist)}",
                hint="Pass a positive amount, such as 0.5.",
            )
        await self.get(execution)
        return await self.pay(calls.refill, execution, amount_mist=amount_mist)

    async def cancel(self, execution: Address) -> Sent:
        """Cancel an execution.

        Leaders can still close pending invocations, and are paid for them. Invocations past their
        deadline expire in the transaction of the cancellation. The remaining funds are immediately
        refunded to the owner, or to the schedule that started the execution. Raises
        `execution_unknown`, `not_owner` or `execution_ended`.
        """
        current = await self._require_owned(execution)
        builder = TransactionBuilder()
        calls.cancel(builder, self.deployment.workflows, execution)
        await self._add_end(builder, current)
        return await self.send(builder)

    async def _add_end(self, builder: TransactionBuilder, execution: Execution) -> None:
        await add_due_advances(self, builder, execution)
        if execution.schedule is not None:
            package = self.deployment.workflows
            schedules.collect(builder, package, execution.schedule, execution.id)

    async def expire(self, execution: Address) -> Sent:
        """End an execution after its deadline, as any account. Raises `execution_unknown`."""
        current = await self.get(execution)
        builder = TransactionBuilder()
        calls.expire(builder, self.deployment.workflows, execution)
        await self._add_end(builder, current)
        return await self.send(builder)

    async def set_leaders(self, execution: Address, leaders: Sequence[LeaderRef]) -> Sent:
        """Set one or two other leaders. Pending invocations keep their current leaders.

        Raises `execution_unknown`, `not_owner` or `no_leader`.
        """
        await self._require_owned(execution)
        selected = (await self._consent.choose_leaders({}, leaders)).leaders
        builder, package = TransactionBuilder(), self.deployment.workflows
        calls.set_leader(builder, package, execution, selected[0])
        for backup in selected[1:]:
            calls.set_backup(builder, package, execution, backup)
        return await self.send(builder)

    async def clean(
        self,
        execution: Address,
        *,
        on_sent: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> CleanupResult:
        """Delete an ended execution with its results, in one or more transactions.

        The sender receives the storage rebate. Accounts other than the owner can delete the
        execution only 7 days after its end. After an interruption, call `clean` again. A dry run
        simulates only the first transaction. `on_sent` receives the number of sent transactions and
        the total number.

        Raises `execution_unknown`, `execution_not_ended` or `too_early`.
        """
        current = await self.get(execution)
        sent: list[Sent] = []
        if current.ended_at_ms is None:
            sent.append(await expire_pending(self, current))
        ended_at_ms = current.ended_at_ms
        others_may_at_ms = None if ended_at_ms is None else ended_at_ms + OWNER_ONLY_MS
        parts = await plan_cleanup(self, current)
        for number, part in enumerate(parts, start=1):
            builder = TransactionBuilder()
            part(builder, self.deployment.workflows, execution)
            try:
                sent.append(await self.send(builder, possible_at_ms=others_may_at_ms))
            except WrongStateError as error:
                if error.code == "too_early":
                    error.hint = f"Sign with the wallet of {current.owner}."
                raise
            if self.dry_run:
                return CleanupResult(tuple(sent), len(parts) - number)
            on_sent(number, len(parts))
        return CleanupResult(tuple(sent))

    async def _require_owned(self, execution: Address) -> Execution:
        current = await self.get(execution)
        check_execution_owner(current, self.client.address)
        return current

    @cached_property
    def _consent(self) -> TermsResolver:
        return TermsResolver(self.client, self.deployment, dry_run=self.dry_run)
