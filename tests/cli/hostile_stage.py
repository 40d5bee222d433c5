"""A chain with hostile texts in every field that the chain accepts, and the home of a user."""

import asyncio
import json
from contextlib import AsyncExitStack
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import patch

from msgspec.structs import replace

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import (
    Executions,
    LeaderRegistry,
    Registration,
    Schedules,
    Workflows,
    add_advance,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import ASK, Answer, Failure, FailureReason
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    Vertex,
)
from tests.conftest import PEOPLE, Chain
from tests.hostile_market import (
    MAX_DETAIL,
    SUI,
    HostileMarket,
    RawRegistration,
    cut,
    outputs_of,
)
from tests.hostile_texts import HOSTILE_TEXTS
from tests.index.conftest import History
from tests.registry.sums import ADD
from tests.retry_policies import QUICK

ALL_TEXTS = " ".join(text[:200] for text in HOSTILE_TEXTS.values())
GROUP = "\x1b]0;<script>alert(1)</script>\x07\r\n"
"""The chain accepts only ASCII names of entry groups."""
EVENT = f"{GROUP}\n\x1b[2J::x::Y"
"""The chain accepts any ASCII text as the type of an event that starts executions."""
NAMED = "xyz.example.named@1"
LARGE = "xyz.example.large@1"
LARGE_TEXT = "\u202e<b>\x1b[2J" + "A" * 100_000
# JSON that is not a valid schema. The last keyword of each schema has an invalid type.
INVALID_SCHEMAS = [
    {"properties": {"a": {"enum": 1}}},
    {"properties": {"a": {"type": [1]}}},
    {"properties": {"a": {"anyOf": 1}}},
    {"properties": {"a": {}}, "required": 1},
    {"properties": 1},
    {"type": "object", "x": ALL_TEXTS, "properties": [ALL_TEXTS]},
    [],
]


def named_document():
    """Return a workflow in which each hostile text is the name of a vertex and of an output."""
    names = list(HOSTILE_TEXTS.values())
    first = InputPort(names[0], "a")
    return Document(
        tuple(Vertex(name, ADD, entry_ports=("a",) if name == names[0] else ()) for name in names),
        tuple(
            Edge(OutputPort(one, "ok", "result"), InputPort(other, "a"))
            for one, other in pairwise(names)
        ),
        defaults=tuple(Default(InputPort(name, "b"), 1) for name in names),
        entry_groups=(EntryGroup(GROUP, (names[0],)),),
        inputs=(Input(ALL_TEXTS, (first,)),),
        outputs=(Output(OutputPort(names[-1], "ok", "result"), ALL_TEXTS),),
        dialect=DIALECT,
    )


class HostileStage:
    """The market, and the objects that only commands show. The home signs as the requester."""

    def __init__(self, net, home):
        self.net = net
        self.home = home
        self.network = Network("test", net.url, net.url)
        self.deployment = Deployment.parse(home.settings["deployments"]["test"])
        self.market = HostileMarket()
        self.invalid_fqns = []
        self.large_invocation = self.question = self.execution = None
        self.ended_execution = self.schedule = None

    def objects(self, kind):
        """Yield each hostile text with the ID of an object of this kind."""
        for name, objects in self.market.objects.items():
            for found, place in objects:
                if found == kind:
                    yield HOSTILE_TEXTS[name], place

    def build(self, define, admin):
        """Add all objects. The home gets a key for each account, and uses the requester's."""
        for name in PEOPLE:
            account, _ = self.home.wallet.new(name)
            self.net.fund(account.address, 500 * SUI)
        asyncio.run(self._build(define, admin))
        self.home.wallet.use("user")

    async def _build(self, define, admin):
        net = SimpleNamespace(network=self.network, fund=self.net.fund)
        async with AsyncExitStack() as stack:

            def open_client(signer):
                client = SuiClient(self.network, signer, retry_policy=QUICK)
                return stack.enter_async_context(client)

            clients = {name: await open_client(self.home.wallet.signer(name)) for name in PEOPLE}
            leaders = LeaderRegistry(clients["leader"], self.deployment)
            _, leader = await leaders.register("first", activate=True)
            history = History(Chain(net, self.deployment), define, clients, leader)
            await self.market.add(history)
            await self._add_invalid_schemas(history)
            administration = LeaderRegistry(await open_client(admin), self.deployment)
            await self._add_large_outcome(history, administration)
            await self._add_question(history)
            await self._add_executions(history)
            await self._add_schedule(history)

    async def _add_invalid_schemas(self, history):
        for number, schema in enumerate(INVALID_SCHEMAS):
            fqn = f"xyz.example.invalid{number}@1"
            text = json.dumps(schema).encode()
            url = "https://tools.example.com"
            definition = history.define(fqn)
            await history.tools.register(RawRegistration(definition, url=url, input_schema=text))
            self.invalid_fqns.append(fqn)

    async def _add_large_outcome(self, history, administration):
        settings = await administration.settings()
        limit = len(LARGE_TEXT) + 1_000
        await administration.configure(replace(settings, max_ports_bytes=limit))
        definition = history.define(LARGE, output_schema=outputs_of("r"))
        await history.tools.register(Registration(definition))
        tool = await history.tools.get(LARGE)
        _, invocation = await history.invocations.request(
            tool, {"a": 1, "b": 2}, leaders=[history.leader], max_outcome_bytes=limit
        )
        await history.closings.close(history.leader, {invocation: Answer("ok", {"r": LARGE_TEXT})})
        self.large_invocation = str(invocation)

    async def _add_question(self, history):
        tool = await history.tools.get(ASK)
        answerer = str(history.clients["user"].address)
        _, invocation = await history.invocations.request(
            tool, {"answerer": answerer, "question": ALL_TEXTS}, leaders=[history.leader]
        )
        self.question = str(invocation)

    async def _add_executions(self, history):
        owned = Workflows(history.clients["owner"], self.deployment)
        await owned.publish(named_document(), NAMED, ALL_TEXTS[:1_000])
        executions = Executions(history.clients["user"], self.deployment)
        workflow = await owned.get(NAMED)
        self.execution, _ = await self._start_failing(history, executions, workflow)
        ended, invocation = await self._start_failing(history, executions, workflow)
        builder = TransactionBuilder()
        add_advance(builder, self.deployment, ended, workflow.id, invocation)
        await executions.send(builder)
        self.ended_execution = ended

    async def _start_failing(self, history, executions, workflow):
        """Start an execution whose first invocation fails, and do not advance it."""
        started = await executions.start(workflow, {ALL_TEXTS: 1}, leaders=[history.leader])
        [run] = (await executions.state(started.execution)).runs.values()
        failure = Failure(FailureReason.UNREACHABLE, cut(ALL_TEXTS, MAX_DETAIL))
        await history.closings.close(history.leader, {run.invocation.id: failure})
        return started.execution, run.invocation.id

    async def _add_schedule(self, history):
        workflow = await Workflows(history.clients["owner"], self.deployment).get(NAMED)
        # Our client accepts only types of events. An attacker's client need not.
        with patch("nexus_tools.registry.schedules.creation.parse_struct_tag"):
            created = await Schedules(history.clients["user"], self.deployment).create(
                workflow,
                {ALL_TEXTS: 1},
                Timing(Plan.OnEvent(EVENT, 60_000, 1), None),
                funds_mist=5 * SUI,
                leaders=[history.leader],
            )
        self.schedule = str(created.schedule)
