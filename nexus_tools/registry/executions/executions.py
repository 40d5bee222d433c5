"""Executions of workflows: beginning them, looking after them, and what they come to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
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
    ExecutionBegun,
    ExecutionEnded,
)
from nexus_tools.errors import NotFoundError, NotNowError, UsageError
from nexus_tools.registry.executions.cleanup import OWNER_MS, add_due, cleanings, end_rest
from nexus_tools.registry.executions.costs import ExecutionCost
from nexus_tools.registry.executions.history import read_execution_steps, spent_mist
from nexus_tools.registry.executions.state import ExecutionState, read_state
from nexus_tools.registry.executions.step_commands import Foresight, StepCommands
from nexus_tools.registry.executions.terms import DEFAULT_STEPS, Consent, Terms
from nexus_tools.registry.executions.waits import Wait, read_waits
from nexus_tools.registry.invocations.history import Step
from nexus_tools.registry.leaders.leader_registry import LeaderName
from nexus_tools.registry.preconditions import check_orderer
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import WENT_BACK, EventRecord, follow_events, past_events
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import MAX_EXECUTION_MS

DEFAULT_LASTS_MS = 24 * 60 * 60 * 1_000
"""How long it may last if nobody says so."""


@dataclass(frozen=True, slots=True)
class BegunExecution:
    """An execution that was begun: the transaction, its id, its funds in MIST, who carries it.

    `max_prices_mist` and `max_outcome_bytes` are what `Executions.begin` took or found.
    """

    sent: Sent
    execution: Address
    funds_mist: int
    leaders: tuple[Address, ...]
    cost: ExecutionCost
    max_prices_mist: Mapping[str, int]
    max_outcome_bytes: int


@dataclass(frozen=True, slots=True)
class ListedExecution:
    """An execution in a list; None of one that was deleted."""

    begun: ExecutionBegun
    execution: Execution | None


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What cleaning up sent; `back_mist` is what Sui gave back beyond what it cost.

    A dry run leaves out as many transactions as `unsent` says.
    """

    sent: tuple[Sent, ...]
    unsent: int = 0

    @property
    def back_mist(self) -> int:
        """Negative if it cost more than came back."""
        return -sum(each.cost.net for each in self.sent)


@checks_arguments
class Executions(PackageClient):
    """The executions of a deployment, for those who own them; anyone may look and refill.

    Besides the errors that are named, every method raises as `SuiClient` does.
    """

    # --- Beginning

    async def cost(
        self,
        workflow: PublishedWorkflow,
        *,
        group: str | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> ExecutionCost:
        """What an execution takes of its funds. Raises `group_unknown` or `group_missing`."""
        return await self._consent.cost(
            workflow, group=group, max_outcome_bytes=max_outcome_bytes, max_steps=max_steps
        )

    async def leaders_for(
        self, workflow: PublishedWorkflow, among: Sequence[LeaderName] = ()
    ) -> tuple[Address, ...]:
        """One or two active leaders whom an execution can name. Raises `no_leader`."""
        found = await self._consent.leaders_of(workflow, among)
        return tuple(leader.id for leader in found)

    async def begin(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        funds_mist: int | None = None,
        leaders: Sequence[LeaderName] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
        lasts_ms: int = DEFAULT_LASTS_MS,
    ) -> BegunExecution:
        """Begin an execution, with its first runs requested, in one transaction.

        `inputs` are JSON values by the names that the workflow gives them. Without `funds_mist` it
        gets `ExecutionCost.usual_mist`; what is left comes back at the end. `leaders` is a
        list of one's own, of which the first two that are active are named; without it they are
        drawn from those that the tools accept. A tool may cost what `max_prices_mist` says by its
        FQN, or what it costs today.

        Raises, before money moves, `UsageError` for inputs and groups, `input_invalid`,
        `lasts_too_long`, `lasts_too_short`, `tool_unknown`, `tool_not_active`, `price_too_high`,
        `tool_without_key`, `outcome_limit_too_small`, `outcome_limit_too_large`, `no_leader` and
        `funds_too_small`.
        """
        if not lasts_ms:
            raise UsageError("lasts_too_short", "an execution that lasts for no time does nothing")
        if lasts_ms > MAX_EXECUTION_MS:
            raise UsageError("lasts_too_long", "an execution lasts 90 days at most")
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
            funds_mist = terms.enough_mist
        if funds_mist < cost.begin_mist:
            raise NotNowError(
                "funds_too_small",
                f"the first runs take up to {sui(cost.begin_mist)}, and there is {sui(funds_mist)}",
                hint="give more funds: what is not needed comes back at the end",
            )
        builder = self._beginning(
            workflow, terms, funds_mist, max_steps=max_steps, lasts_ms=lasts_ms
        )
        sent = await self.send(builder)
        begun = self.emitted(sent, ExecutionBegun)
        prices, size = terms.prices_of(workflow), terms.max_outcome_bytes
        return BegunExecution(sent, begun.execution, funds_mist, terms.leaders, cost, prices, size)

    def _beginning(
        self,
        workflow: PublishedWorkflow,
        terms: Terms,
        funds_mist: int,
        *,
        max_steps: int,
        lasts_ms: int,
    ) -> TransactionBuilder:
        builder, package, plan = TransactionBuilder(), self.deployment.workflows, workflow.plan
        execution = calls.begin(
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
            lasts_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for backup in terms.leaders[1:]:
            calls.name_backup(builder, package, execution, backup)
        for vertex, ports in terms.values.items():
            made = make_ports(builder, self.deployment.package, ports_of(ports))
            calls.give(builder, package, execution, vertex, made)
        foresight = Foresight(plan)
        foresight.begun([*plan.groups][terms.group])
        commands = StepCommands(self.deployment, workflow.id, plan)
        for step in foresight.steps():
            commands.add(builder, execution, terms.leaders[0], step)
        calls.share(builder, package, execution)
        return builder

    # --- Reading

    async def find(self, execution: Address) -> Execution | None:
        """An execution, or None if there is none, as after it was cleaned up."""
        value = await self.client.object(execution)
        is_one = value is not None and value.type == self.deployment.type_of(Execution)
        return self.decoded(value, Execution) if is_one else None

    async def get(self, execution: Address) -> Execution:
        """An execution. Raises `execution_unknown` or `object_of_another_type`."""
        value = await self.client.object(execution)
        if value is None:
            raise NotFoundError(
                "execution_unknown",
                f"there is no execution {execution}",
                hint="it was cleaned up, or is one of another network:"
                " `nexus-tools workflow executions` lists yours",
            )
        return self.deployment.decode(value, Execution)

    async def state(self, execution: Address) -> ExecutionState:
        """An execution with its runs and results. Raises `execution_unknown`."""
        found = await self.get(execution)
        workflow = await Workflows(self.client, self.deployment).by_id(found.dag)
        return await read_state(self, found, workflow)

    async def waits(self, state: ExecutionState) -> tuple[Wait, ...]:
        """What a running execution waits for: a person, a time, a leader, or funds."""
        return await read_waits(self, state)

    async def spent_mist(self, state: ExecutionState) -> int | None:
        """What an execution took of its funds; None before its end, or if the node forgot it."""
        if not state.is_ended:
            return None
        return spent_mist(await self.history(state.execution.id))

    async def list(self, owner: Address | None = None) -> tuple[ListedExecution, ...]:
        """The executions of an address, or of the wallet, as events tell, the oldest first."""
        address = owner or self.client.address
        asked = past_events(self.client, event_filter(self.deployment, ExecutionBegun))
        begun = [parse_event(self.deployment, record.event) async for record in asked]
        mine = [
            each for each in begun if isinstance(each, ExecutionBegun) and each.owner == address
        ]
        found = await self.find_all([each.execution for each in mine], Execution)
        return tuple(map(ListedExecution, mine, found))

    async def history(self, execution: Address) -> tuple[Step, ...]:
        """What happened in an execution, also in one that is deleted, as far as the node knows."""
        return await read_execution_steps(self, execution)

    async def wait(self, execution: Address) -> ExecutionState:
        """The execution once it has ended, however long that takes.

        Bound it with `asyncio.timeout`. Raises `execution_unknown`.
        """
        kinds = event_filter(self.deployment, ExecutionEnded)
        while True:
            try:
                looked = False
                async with aclosing(follow_events(self.client, kinds)) as items:
                    async for item in items:
                        if looked and not self._is_end(item, execution):
                            continue
                        looked = True  # what happens after this look is followed
                        if (await self.get(execution)).ended_at_ms is not None:
                            return await self.state(execution)
            except NotFoundError as error:
                if error.code != WENT_BACK:
                    raise  # else it is looked for on the chain as it is now

    def _is_end(self, item: object, execution: Address) -> bool:
        if not isinstance(item, EventRecord):
            return False
        ended = parse_event(self.deployment, item.event)
        return isinstance(ended, ExecutionEnded) and ended.execution == execution

    # --- Looking after it

    async def refill(self, execution: Address, amount_mist: int) -> Sent:
        """Add to the funds; anyone may. Raises `amount_zero`, `execution_unknown` or `ended`."""
        if not amount_mist:
            raise UsageError("amount_zero", "nothing was to be added", hint="say how much, as 0.5")
        await self.get(execution)
        return await self.pay(calls.refill, execution, amount_mist=amount_mist)

    async def cancel(self, execution: Address) -> Sent:
        """End an execution: what is under way is still closed and paid.

        What nobody closed in time expires with it. All other funds go back at once, to the schedule
        that began it, if one did. Raises `execution_unknown`, `not_owner` or `ended`.
        """
        found = await self._owned(execution)
        builder = TransactionBuilder()
        calls.cancel(builder, self.deployment.workflows, execution)
        await self._add_end(builder, found)
        return await self.send(builder)

    async def _add_end(self, builder: TransactionBuilder, execution: Execution) -> None:
        await add_due(self, builder, execution)
        if execution.schedule is not None:
            package = self.deployment.workflows
            schedules.collect(builder, package, execution.schedule, execution.id)

    async def expire(self, execution: Address) -> Sent:
        """End an execution whose time is over; anyone may. Raises `execution_unknown`."""
        found = await self.get(execution)
        builder = TransactionBuilder()
        calls.expire(builder, self.deployment.workflows, execution)
        await self._add_end(builder, found)
        return await self.send(builder)

    async def name_leaders(self, execution: Address, leaders: Sequence[LeaderName]) -> Sent:
        """Name one or two other leaders; what is under way stays with those that it names.

        Raises `execution_unknown`, `not_owner` or `no_leader`.
        """
        await self._owned(execution)
        found = await self._consent.leaders_for({}, leaders)
        builder, package = TransactionBuilder(), self.deployment.workflows
        calls.name_leader(builder, package, execution, found[0].id)
        for backup in found[1:]:
            calls.name_backup(builder, package, execution, backup.id)
        return await self.send(builder)

    async def clean(
        self,
        execution: Address,
        *,
        on_sent: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> Cleaned:
        """Delete all that is left of an execution that has ended, in one or more transactions.

        Results go with it. What Sui took for storing it is the sender's: the owner's, or from 7
        days after the end on anyone's. Who was interrupted calls it again. Raises
        `execution_unknown`, `not_ended` or `too_early`. A dry run simulates the first transaction
        alone.
        """
        found = await self.get(execution)
        sent: list[Sent] = []
        if found.ended_at_ms is None:
            sent.append(await end_rest(self, found))
        ended_at_ms = found.ended_at_ms
        others_may_at_ms = None if ended_at_ms is None else ended_at_ms + OWNER_MS
        parts = await cleanings(self, found)
        for number, part in enumerate(parts, start=1):
            builder = TransactionBuilder()
            part(builder, self.deployment.workflows, execution)
            try:
                sent.append(await self.send(builder, possible_at_ms=others_may_at_ms))
            except NotNowError as error:
                if error.code == "too_early":
                    error.hint = f"sign with the wallet of {found.owner}"
                raise
            if self.dry_run:
                return Cleaned(tuple(sent), len(parts) - number)
            on_sent(number, len(parts))
        return Cleaned(tuple(sent))

    async def _owned(self, execution: Address) -> Execution:
        found = await self.get(execution)
        check_orderer(found, self.client.address)
        return found

    @property
    def _consent(self) -> Consent:
        return Consent(self.client, self.deployment, dry_run=self.dry_run)
