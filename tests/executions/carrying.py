"""Carries an execution on the chain and by the pure semantics, and compares them at each step."""

import random
from collections import defaultdict

from nexus_tools.package import PackageClient, make_ports, parse_event, ports_of
from nexus_tools.package.move import execution as calls
from nexus_tools.package.move import invocation as invocations
from nexus_tools.package.move.records import Instance
from nexus_tools.registry import RunResolver
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    Begun,
    Cancelled,
    Closed,
    Collected,
    Execution,
    Failed,
    Given,
    Requested,
    Run,
    Settled,
)
from tests.workflow.naive_interpreter import FAILED

GIVEN = "given"
FUNDS_MIST = 20 * 10**9
MAX_OUTCOME_BYTES = 600
MAX_STEPS = 10_000
LASTS_MS = 3_600_000


class Carried:
    """One execution of a published workflow, whose outcomes a function of the run decides.

    Chance decides what happens next; `spent_mist` is what all transactions cost.
    """

    def __init__(self, workflow, outcome, seed, *, owner, worker, leader, settings):
        self.workflow = workflow
        self.plan = workflow.plan
        self.pure = Execution(workflow.plan)
        self.spent_mist = 0
        self.transactions = 0
        self._outcome = outcome
        self._chance = random.Random(f"{seed} order")
        self._owner, self._worker, self._leader = owner, worker, leader
        self._settings = settings
        self._package = owner.deployment.package
        self._numbers = {name: number for number, name in enumerate(self.plan.vertices)}
        self._names = list(self.plan.vertices)
        self._resolver = RunResolver(owner.client, owner.deployment)
        self._invocations = {}
        self._values = {}
        self._ended = []
        self.execution = None

    # --- The whole of it

    async def begin(self, group=DEFAULT_GROUP):
        builder = TransactionBuilder()
        funds = builder.split_coins(builder.gas, [FUNDS_MIST])[0]
        prices = [10**6] * len(self.workflow.tools)
        terms = (prices, MAX_OUTCOME_BYTES, MAX_STEPS, LASTS_MS)
        begun = calls.begin(
            builder,
            self._package,
            self._owner.deployment.leader_registry,
            self._settings.revision,
            self.workflow.id,
            list(self.plan.groups).index(group),
            self._leader,
            *terms,
            funds,
        )
        for name, vertex in self.plan.vertices.items():
            given = dict.fromkeys(vertex.entries - vertex.constants, GIVEN)
            if given:
                ports = make_ports(builder, self._package, ports_of(given))
                calls.give(builder, self._package, begun, self._numbers[name], ports)
        calls.share(builder, self._package, begun)
        events = await self._sent(self._owner, builder)
        [told] = [each for each in events if isinstance(each, calls.ExecutionBegun)]
        self.execution = told.execution
        self._compare(self.pure.apply(Begun(group)), [told.change])

    async def carry(self, *, cancel_after=None):
        """Until it ends, or is cancelled after so many steps."""
        steps = 0
        while not self._ended:
            ready, under_way = list(self.pure.ready()), list(self.pure.under_way())
            assert ready or under_way, "the chain goes on, and the semantics has nothing to do"
            if steps == cancel_after:
                await self._cancel()
            elif ready and (not under_way or self._chance.random() < 0.5):
                await self._request(self._chance.choice(ready))
            else:
                await self._close(self._chance.choice(under_way))
            steps += 1
        assert not [*self.pure.ready(), *self.pure.under_way()]
        [ended] = self._ended
        assert ended.status == self.pure.status

    # --- Steps

    async def _request(self, wanted):
        builder, number = TransactionBuilder(), self._numbers[wanted.vertex]
        tool = self.workflow.tools[self.workflow.fqns.index(self._fqn(wanted.vertex))]
        named = (self.execution, self.workflow.id, tool, self._leader, number)
        region = self._region_of(wanted)
        if region is None:
            calls.request(builder, self._package, *named, wanted.path)
        else:
            most = self._chance.randint(1, 3)
            calls.request_iterations(builder, self._package, *named, region, most)
        events = await self._sent(self._worker, builder)
        requested = [each for each in events if isinstance(each, invocations.InvocationRequested)]
        assert requested, f"{wanted} is ready, and was not requested"
        for event in requested:
            run = self._run(event.attempt.run)
            assert run in set(self.pure.ready())
            assert region is not None or run == wanted
            assert event.attempt.number == self.pure.attempt(run)
            await self._compare_inputs(run)
            self.pure.apply(Requested(run))
            self._invocations[run] = event.invocation

    async def _close(self, run):
        invocation = self._invocations.pop(run)
        variant, ports = self._outcome(run.vertex, run.path, self.pure.attempt(run))
        builder, closed = TransactionBuilder(), (self._package, invocation, self._leader)
        if variant == FAILED:
            invocations.fail(builder, *closed, "unreachable", "detail")
            outcome = Failed("unreachable", "detail")
            self._values[run] = {"reason": "unreachable", "detail": "detail"}
        else:
            made = make_ports(builder, self._package, ports_of(ports))
            invocations.settle(builder, *closed, variant, made)
            lengths = {
                name: len(value) if isinstance(value, list) else None
                for name, value in ports.items()
            }
            outcome = Settled(variant, lengths)
            self._values[run] = ports
        calls.advance(builder, self._package, self.execution, self.workflow.id, invocation)
        events = await self._sent(self._worker, builder)
        [advanced] = [each for each in events if isinstance(each, calls.ExecutionAdvanced)]
        changes = [advanced.change, *await self._gathered(advanced.change.emptied)]
        self._compare(self.pure.apply(Closed(run, outcome)), changes)

    async def _gathered(self, emptied):
        """What follows when regions are gathered in which nothing is left to do."""
        changes, left = [], list(emptied)
        while left:
            region = left.pop()
            builder = TransactionBuilder()
            named = (self.execution, self.workflow.id, region.block, region.path)
            calls.gather(builder, self._package, *named)
            for event in await self._sent(self._worker, builder):
                if isinstance(event, calls.RegionGathered):
                    assert event.region == Instance(region.block, region.path)
                    changes.append(event.change)
                    left += event.change.emptied
        return changes

    async def _cancel(self):
        builder = TransactionBuilder()
        calls.cancel(builder, self._package, self.execution)
        await self._sent(self._owner, builder)
        self.pure.apply(Cancelled())

    async def _sent(self, who, builder):
        sent = await who.send(builder)
        self.spent_mist += sent.cost.net
        self.transactions += 1
        events = [parse_event(who.deployment, each) for each in sent.events]
        self._ended += [each for each in events if isinstance(each, calls.ExecutionEnded)]
        return events

    # --- Comparisons

    def _compare(self, pure, changes):
        runs, iterations = set(), defaultdict(int)
        for run in pure.ready:
            region = self._region_of(run)
            if region is None:
                runs.add(run)
            else:
                iterations[run.vertex, region] += 1
        assert {self._run(run) for each in changes for run in each.ready} == runs
        told = {self._run(run) for each in changes for run in each.iterations}
        assert {Run(*each) for each in iterations} <= told
        failed = [(each.run, each.reason) for each in pure.failures]
        assert [
            (self._run(each.run), each.reason) for change in changes for each in change.failures
        ] == failed

    async def _compare_inputs(self, run):
        """What a leader reads on chain is what the semantics says that the run takes."""
        execution = await self._owner.read(self.execution, calls.Execution)
        read = await self._resolver.inputs(execution, self.workflow, run)
        values = self.pure.inputs(run)
        assert read == {port: self._resolved(value) for port, value in values.items()}

    def _resolved(self, value):
        if isinstance(value, Given):
            defaults = {each.target: each.data for each in self.workflow.document.defaults}
            return defaults.get(value.target, GIVEN)
        if isinstance(value, Collected):
            return [self._resolved(each) for each in self.pure.collected(value)]
        found = self._values[value.run][value.port]
        return found if value.element is None else found[value.element]

    def _region_of(self, run):
        """The path of the region of whose cursor this run is an iteration that is still to come."""
        block = self.plan.vertices[run.vertex].region
        if block is None or run.vertex not in self.plan.blocks[block].cursors:
            return None
        depth = self.plan.blocks[block].depth
        is_first_round = not any(run.path[depth + 1 :])
        return run.path[:depth] if is_first_round and self.pure.attempt(run) == 1 else None

    def _run(self, run):
        return Run(self._names[run.vertex], tuple(run.path))

    def _fqn(self, vertex):
        return self.plan.vertices[vertex].vertex.fqn


class Client(PackageClient):
    """Somebody who sends transactions."""
