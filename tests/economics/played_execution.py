"""An execution on chain that is compared with the rules, which must pay the same."""

from nexus_tools.contracts import PackageClient, ports_of
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows.execution import (
    Execution,
    ExecutionAdvanced,
    ExecutionEnded,
    ExecutionRefunded,
)
from nexus_tools.errors import NexusError
from nexus_tools.registry import add_advance, add_outcome
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer
from tests.economics.carried import ActiveExecution
from tests.economics.execution_rules import following_steps
from tests.economics.execution_stories import CALLED, PLAIN, SIGNED
from tests.economics.funds_rules import FundsShortError
from tests.economics.gas_bounds import gas_bound_mist

TIMEOUT_MS, DAY_MS = 5_000, 86_400_000
WINDOW_MS = TIMEOUT_MS + 16_000


class PlayedExecution(ActiveExecution):
    """The execution of a story. Its payments are compared after each transaction of its worker."""

    def __init__(self, network, workflow, story, rules):
        super().__init__(network.stage, workflow)
        self.network, self.story, self.rules = network, story, rules
        self.closed, self.has_raised, self.refunded_mist = {}, False, 0

    async def begin(self):
        """Start it with the terms of the story."""
        story, terms = self.story, self.story.terms(self.rules.fees)
        # The network refuses to split off an empty coin.
        funds_mist = max(terms.pop("funds_mist"), 1)
        terms |= {"max_timeout_ms": TIMEOUT_MS, "funds_mist": funds_mist}
        self._count_refunds(await super().begin(story.values, **terms))

    async def close(self, run, outcome, *, advances_executions=True):
        """Close a run, and continue in the same transaction if `advances_executions` is true."""
        builder, event = TransactionBuilder(), self.requests[run]
        outcome = await self._add_outcome(builder, run, event, outcome)
        if advances_executions:
            named = self.id, self.workflow.id, event.invocation
            add_advance(builder, self.stage.deployment, *named)
            self._add_steps(builder, following_steps(self.plan, run, event.attempt.number, outcome))
        del self.requests[run]
        await self._send_for(run, event, builder)

    async def _add_outcome(self, builder, run, event, outcome):
        """Add the commands that close a run, and return its outcome."""
        deployment, leader, attempt = self.stage.deployment, self.stage.leader, None
        fqn = self.story.fqn_of(run.vertex)
        if fqn != PLAIN and isinstance(outcome, Answer):
            signed = fqn == SIGNED
            outcome, attempt = await self._signed(run, event, outcome, signed=signed)
        if fqn == CALLED and isinstance(outcome, Answer):
            await self.network.script.set(outcome.variant, ports_of(outcome.ports))
            self.network.script.add_call(builder, event.invocation, leader, attempt)
        else:
            add_outcome(builder, deployment, event.invocation, leader, outcome, attempt=attempt)
        return outcome

    async def advance(self, run, **_):
        """Continue with a run that is closed or expired."""
        waiting = self.requests if run in self.requests else self.closed
        event, builder = waiting.pop(run), TransactionBuilder()
        named = self.id, self.workflow.id, event.invocation
        add_advance(builder, self.stage.deployment, *named)
        await self._send_for(run, event, builder, waiting)

    async def _send_for(self, run, event, builder, waiting=None):
        """Send a transaction about a run, which is closed afterwards if it was not advanced."""
        try:
            events = await self.send(builder)
        except FundsShortError:
            (self.requests if waiting is None else waiting)[run] = event
            raise
        if not any(isinstance(entry, ExecutionAdvanced) for entry in events):
            self.closed[run] = event

    async def stop(self, _status):
        """Cancel it as its owner."""
        builder = TransactionBuilder()
        calls.cancel(builder, self.stage.deployment.workflows, self.id)
        await self._send_as(self.stage.owner, builder)

    async def refill(self, amount_mist):
        """Add to its funds as its owner."""
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [amount_mist])[0]
        calls.refill(builder, self.stage.deployment.workflows, self.id, coin)
        await self._send_as(self.stage.owner, builder)

    async def raise_timeouts(self, timeout_ms=TIMEOUT_MS + 1):
        """Raise the timeouts of the tools beyond what the execution allows."""
        self.has_raised = not self.has_raised
        for fqn in (PLAIN, SIGNED, CALLED):
            await self.stage.update(fqn, timeout_ms=timeout_ms)

    async def expire_all(self):
        """Let all pending invocations expire."""
        self.network.clock(WINDOW_MS * self.rules.leaders)

    async def pass_deadline(self):
        """Let the deadline of the execution pass."""
        self.network.clock(DAY_MS)

    async def expire(self):
        """Expire it as an unrelated account, which earns nothing."""
        other, builder = self.stage.worker, TransactionBuilder()
        calls.expire(builder, self.stage.deployment.workflows, self.id)
        before = await other.balance(other.address)
        sent = await self._send_as(other, builder)
        assert await other.balance(other.address) == before - sent.cost.net

    async def check_end(self):
        """Compare funds, refunds, costs and open runs with the rules."""
        rules, bound = self.rules, gas_bound_mist
        assert set(self.requests) == set(rules.requests)
        assert set(self.closed) == set(rules.closed)
        client = PackageClient(self.stage.worker, self.stage.deployment)
        found = await client.read(self.id, Execution)
        assert found.funds == rules.funds_mist
        assert self.refunded_mist == (0 if rules.is_scheduled else rules.refunded_mist)
        for paid, cost in zip(rules.paid, self.costs, strict=True):
            assert cost.net <= bound(self.network.protocol, paid, self.network.price), paid

    async def _send_as(self, client, builder):
        sent = await PackageClient(client, self.stage.deployment).send(builder)
        self._count_refunds(self._events(sent))
        return sent

    async def send(self, builder):
        try:
            events = await super().send(builder)
        except NexusError as error:
            if error.code != "insufficient_funds":
                raise
            raise FundsShortError from error
        self._count_refunds(events)
        # The rules play first, so they have already paid for this transaction.
        number = len(self.costs) - 1
        paid_mist = self.gained_mist[-1] + self.costs[-1].net
        ruled = self.rules.paid[number]
        assert paid_mist == ruled.mist, f"transaction {number}: {paid_mist - ruled.mist}, {ruled}"
        return events

    def _count_refunds(self, events):
        for event in events:
            if isinstance(event, ExecutionRefunded):
                self.refunded_mist += event.amount_mist
            if isinstance(event, ExecutionEnded) and not self.rules.is_scheduled:
                self.refunded_mist += event.refund_mist
