"""Costs and payments of the transactions of executions and schedules.

Each transaction is executed on localnets with two gas prices, because payments are linear in the
gas price.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gas_costs import PRICES, Cost, cost_of
from nexus_tools.contracts import PackageClient, Publisher, Sent, parse_event
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import (
    Executions,
    LeaderRegistry,
    PublishedWorkflow,
    Registration,
    Schedules,
    StepCommands,
    StepPredictor,
    ToolRegistry,
    Workflows,
    add_advance,
    add_outcome,
    execution_outcome,
)
from nexus_tools.sui.client import SuiClient, request_sui
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Localnet, Origin
from nexus_tools.sui.localnet.genesis import system_state
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome, ToolDefinition
from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Run,
    Vertex,
)

_SUI = 1_000_000_000
_MEASURED_PRICES = (500, 5_000)
_HOUR_MS = 3_600_000
_FQN = "xyz.example.economy.any@1"
_REGIONS = 8
_LARGE_BYTES, _MOST_BYTES = 60_000, 65_536
_ANSWER = Answer("ok", {"value": "x" * 100})
_LIST = Answer("ok", {"value": "x" * 100, "list": [1] * 4})
_LARGE = Answer("ok", {"value": "x" * _LARGE_BYTES})
_FAILURE = Failure(FailureReason.UNREACHABLE, "")

BEGIN = "start by the owner"
REQUEST, REFUSE = "request alone", "refuse alone"
SETTLE, SETTLE_LAST, FAIL = "settle, advance, request", "settle, advance", "fail, advance"
REWRITE, EFFORT = "advance a large outcome", f"settle, open {_REGIONS} regions"
TRIGGER, TRIGGER_TWO = "trigger", "trigger two schedules"
COLLECT = "collect and trigger"


@dataclass(frozen=True, slots=True)
class Step:
    """A transaction: its cost, and its payment as a linear function of the gas price."""

    cost: Cost
    fixed_mist: float
    paid_units: float

    def paid_mist(self, price: int) -> int:
        """Return the sender's payment at a gas price."""
        return round(self.fixed_mist + self.paid_units * price)

    def margin_mist(self, price: int) -> int:
        """Return the sender's payment minus its cost at a gas price."""
        return self.paid_mist(price) - self.cost.mist(price)


@dataclass(frozen=True, slots=True)
class _Sample:
    cost: Cost
    paid_mist: int


class _World:
    """A localnet with a tool, a leader whose worker is measured, and an owner."""

    def __init__(self, localnet: Localnet, owner: SuiClient, worker: SuiClient, price: int) -> None:
        self.localnet, self.owner, self.worker, self.price = localnet, owner, worker, price
        self.samples: dict[str, _Sample] = {}

    async def found(self) -> None:
        """Publish the packages, and register the tool and the leader."""
        deployment = (await Publisher(self.owner).publish()).deployment
        assert deployment is not None
        self.deployment = deployment
        leaders = LeaderRegistry(self.worker, deployment)
        _, self.leader = await leaders.register("measured", activate=True)
        await ToolRegistry(self.owner, deployment).register(Registration(_definition()))
        self.pair = await self._publish("pair", _pair())
        self.fan = await self._publish("fan", _fan())

    async def _publish(self, name: str, document: Document) -> PublishedWorkflow:
        workflows, fqn = Workflows(self.owner, self.deployment), f"xyz.example.economy.{name}@1"
        await workflows.publish(document, fqn)
        return await workflows.get(fqn)

    async def send(self, name: str, builder: TransactionBuilder) -> Sent:
        """Send a transaction of the worker, and record its cost and payment."""
        before = await self.worker.balance(self.worker.address)
        sent = await PackageClient(self.worker, self.deployment).send(builder)
        gained_mist = await self.worker.balance(self.worker.address) - before
        cost = cost_of(sent, self.price)
        # The payment does not include the part of the storage fee that Sui does not refund.
        self.samples[name] = _Sample(cost, gained_mist + cost.mist(self.price))
        return sent

    async def measure(self) -> None:
        """Measure all transactions."""
        await self._settling()
        await self._failing()
        await self._refusing()
        await self._fanning()
        await self._keeping()

    async def _settling(self) -> None:
        execution = await self.begin(self.pair)
        await execution.close(SETTLE, "first", _ANSWER)
        await execution.close(SETTLE_LAST, "second", _ANSWER)

    async def _failing(self) -> None:
        execution = await self.begin(self.pair)
        await execution.settle_alone("first", _LARGE)
        await execution.advance(REWRITE, "first")
        await execution.request(REQUEST, "second")
        await execution.close(FAIL, "second", _FAILURE)

    async def _refusing(self) -> None:
        execution = await self.begin(self.pair, max_steps=1)
        await execution.settle_alone("first", _ANSWER)
        await execution.advance("", "first")
        await execution.request(REFUSE, "second")

    async def _fanning(self) -> None:
        execution = await self.begin(self.fan)
        await execution.close(EFFORT, "first", _LIST, has_steps=False)

    async def begin(self, workflow: PublishedWorkflow, max_steps: int = 100) -> "_Execution":
        """Start an execution as its owner. The transaction also requests its first run."""
        before = await self.owner.balance(self.owner.address)
        executions = Executions(self.owner, self.deployment)
        funds_mist = 10 * _SUI
        begun = await executions.start(
            workflow,
            {"e": 1},
            leaders=(self.leader,),
            funds_mist=funds_mist,
            max_steps=max_steps,
            max_outcome_bytes=_MOST_BYTES,
        )
        spent_mist = before - await self.owner.balance(self.owner.address) - funds_mist
        cost = cost_of(begun.sent, self.price)
        self.samples.setdefault(BEGIN, _Sample(cost, cost.mist(self.price) - spent_mist))
        execution = _Execution(self, workflow, begun.execution)
        execution.look(begun.sent)
        return execution

    async def _keeping(self) -> None:
        schedules = Schedules(self.owner, self.deployment)
        now_ms = await self.owner.now_ms()
        plan = Plan.Every(_HOUR_MS, now_ms + _HOUR_MS, None)
        options = {"leaders": (self.leader,), "funds_mist": 9 * _SUI, "keeper_fee_mist": 0}
        one, two, three = [
            (
                await schedules.create(
                    self.pair,
                    {"e": 1},
                    Timing(plan, None),
                    funds_per_execution_mist=2 * _SUI,
                    **options,
                )
            ).schedule
            for _ in range(3)
        ]
        self.localnet.advance_clock(2 * _HOUR_MS)
        await self.trigger(TRIGGER, one)
        await self.trigger(TRIGGER_TWO, two, three)
        [execution] = await schedules.uncollected(one)
        await Executions(self.owner, self.deployment).cancel(execution.id)
        self.localnet.advance_clock(2 * _HOUR_MS)
        await self.trigger(COLLECT, one)

    async def trigger(self, name: str, *schedules: Address) -> None:
        """Clean up ended executions and trigger schedules, in one transaction."""
        verbs, builder = Schedules(self.worker, self.deployment), TransactionBuilder()
        for schedule in schedules:
            found, began = await verbs.get(schedule), await verbs.uncollected(schedule)
            await verbs.add_trigger(builder, found, self.leader, began)
        await self.send(name, builder)


class _Execution:
    """An execution whose runs the worker dispatches."""

    def __init__(self, world: _World, workflow: PublishedWorkflow, execution: Address) -> None:
        self._world, self._workflow, self._id = world, workflow, execution
        self._names = list(workflow.plan.vertices)
        self._requests: dict[str, Address] = {}

    def look(self, sent: Sent) -> None:
        """Record the requested invocations."""
        for event in sent.events:
            parsed = parse_event(self._world.deployment, event)
            if isinstance(parsed, InvocationRequested) and parsed.attempt is not None:
                self._requests[self._names[parsed.attempt.run.vertex]] = parsed.invocation

    async def settle_alone(self, vertex: str, outcome: Outcome) -> None:
        """Close a run without advancing the execution."""
        builder, world = TransactionBuilder(), self._world
        add_outcome(builder, world.deployment, self._requests[vertex], world.leader, outcome)
        await world.send("", builder)

    async def close(
        self, name: str, vertex: str, outcome: Outcome, *, has_steps: bool = True
    ) -> None:
        """Close a run and advance the execution in one transaction."""
        builder, world = TransactionBuilder(), self._world
        invocation = self._requests[vertex]
        add_outcome(builder, world.deployment, invocation, world.leader, outcome)
        add_advance(builder, world.deployment, self._id, self._workflow.id, invocation)
        foresight = StepPredictor(self._workflow.plan)
        foresight.add_closing(Run(vertex, ()), 1, execution_outcome(outcome))
        self._add_steps(builder, foresight if has_steps else None)
        self.look(await world.send(name, builder))

    async def advance(self, name: str, vertex: str) -> None:
        """Advance the execution from a closed run."""
        builder, invocation = TransactionBuilder(), self._requests[vertex]
        add_advance(builder, self._world.deployment, self._id, self._workflow.id, invocation)
        await self._world.send(name, builder)

    async def request(self, name: str, vertex: str) -> None:
        """Request a run."""
        builder, foresight = TransactionBuilder(), StepPredictor(self._workflow.plan)
        foresight.add_closing(Run("first", ()), 1, execution_outcome(_ANSWER))
        assert vertex == "second"
        self._add_steps(builder, foresight)
        self.look(await self._world.send(name, builder))

    def _add_steps(self, builder: TransactionBuilder, foresight: StepPredictor | None) -> None:
        world, workflow = self._world, self._workflow
        commands = StepCommands(world.deployment, workflow.id, workflow.plan)
        for step in foresight.steps() if foresight else ():
            commands.add(builder, self._id, world.leader, step)


def _definition() -> ToolDefinition:
    answer = {"type": "object", "properties": {"value": {}, "list": {"type": "array"}}}
    variants = {"type": "object", "properties": {"ok": answer}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": _FQN,
            "url": "https://tools.example.com/any",
            "description": "Responds with anything.",
            "input_schema": {"type": "object", "properties": {"e": {}}},
            "output_schema": {"type": "object", "oneOf": [variants]},
        }
    )


def _pair() -> Document:
    first, second = Vertex("first", _FQN, entry_ports=("e",)), Vertex("second", _FQN)
    edge = Edge(OutputPort("first", "ok", "value"), InputPort("second", "e"), EdgeKind.NORMAL)
    return Document((first, second), (edge,), dialect=DIALECT)


def _fan() -> Document:
    first, names = Vertex("first", _FQN, entry_ports=("e",)), [f"each{i}" for i in range(_REGIONS)]
    source = OutputPort("first", "ok", "list")
    edges = (Edge(source, InputPort(name, "e"), EdgeKind.FOR_EACH) for name in names)
    vertices = (first, *(Vertex(name, _FQN) for name in names))
    return Document(vertices, tuple(edges), dialect=DIALECT)


async def _measure(protocol: int, price: int) -> Mapping[str, _Sample]:
    with _validators_ask_for(price):
        async with Localnet(origin=Origin(protocol_version=protocol)) as localnet:
            network = Network("localnet", localnet.url, localnet.url)
            keys = [KeyPair.new(), KeyPair.new()]
            for key in keys:
                await request_sui(network, key.address, 1_000 * _SUI)
            async with SuiClient(network, keys[0]) as owner, SuiClient(network, keys[1]) as worker:
                world = _World(localnet, owner, worker, price)
                await world.found()
                await world.measure()
                return world.samples


@contextmanager
def _validators_ask_for(price: int) -> Iterator[None]:
    """Set the reference gas price of localnets that start inside the block."""
    before = system_state.GAS_PRICE
    system_state.GAS_PRICE = price
    try:
        yield
    finally:
        system_state.GAS_PRICE = before


def measure_executions(protocol: int) -> Mapping[str, Step]:
    """Execute each transaction under the rules of a protocol version."""
    low, high = _MEASURED_PRICES
    cheap, dear = (asyncio.run(_measure(protocol, price)) for price in _MEASURED_PRICES)
    steps = {}
    for name, sample in cheap.items():
        if not name:
            continue
        paid_units = (dear[name].paid_mist - sample.paid_mist) / (high - low)
        steps[name] = Step(sample.cost, sample.paid_mist - paid_units * low, paid_units)
    return steps


# --- Output


def execution_table(protocol: int, steps: Mapping[str, Step]) -> Iterable[str]:
    """Yield the margin of each transaction, for each gas price."""
    yield f"Margin of each transaction in MIST, executions and schedules, protocol {protocol}"
    prices = "".join(f"{f'left, {price}':>14}" for price in PRICES)
    yield f"{'':26}{'gas units':>10}{'paid, 1000':>14}{prices}"
    for name, step in steps.items():
        left = "".join(f"{step.margin_mist(price):>14,}" for price in PRICES)
        yield f"{name:26}{step.cost.units:>10,}{step.paid_mist(1_000):>14,}{left}"


def execution_document(steps: Mapping[str, Step]) -> dict[str, object]:
    """Return the costs and margins of the transactions as a JSON document."""
    return {
        name: {
            "gas_units": step.cost.units,
            "paid_mist": {str(price): step.paid_mist(price) for price in PRICES},
            "margin_mist": {str(price): step.margin_mist(price) for price in PRICES},
        }
        for name, step in steps.items()
    }


def broken_execution_rules(steps: Mapping[str, Step]) -> Iterable[str]:
    """Yield the cases in which another action pays more than settling, or a keeper loses SUI."""
    for price in PRICES if steps else ():
        left = {name: step.margin_mist(price) for name, step in steps.items()}
        for settle in (SETTLE, SETTLE_LAST, EFFORT):
            if left[settle] <= max(0, left[FAIL]):
                yield f"price {price}: '{settle}' leaves {left[settle]:,} MIST"
        for name in (FAIL, TRIGGER, TRIGGER_TWO, COLLECT):
            if left[name] < 0:
                yield f"price {price}: '{name}' costs {-left[name]:,} MIST more than it pays"
