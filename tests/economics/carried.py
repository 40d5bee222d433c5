"""An execution whose costs and payments are measured for each transaction of its leader.

The leader sends the same transactions as a Leader: a closing, `advance`, and the following steps.
"""

from dataclasses import dataclass
from hashlib import blake2b

from nexus_tools.contracts import PackageClient, make_ports, parse_event, ports_of
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows.execution import (
    Execution,
    ExecutionEnded,
    ExecutionStarted,
    RunRefused,
)
from nexus_tools.registry import (
    Executions,
    LeaderRegistry,
    Registration,
    RunAttempt,
    RunInputResolver,
    StepCommands,
    StepPredictor,
    ToolRegistry,
    Workflows,
    add_advance,
    add_outcome,
    execution_outcome,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature, SigningKey
from nexus_tools.tool.ports import encode_string
from nexus_tools.workflow import DEFAULT_GROUP, Run

KEY = SigningKey.new()
MIST = 10**9


@dataclass
class Stage:
    """A chain on which `owner` runs workflows that `worker` dispatches for `leader`."""

    deployment: object
    owner: object
    worker: object
    leader: object
    published: int = 0
    is_reckless: bool = False
    """Whether its leader sends what is too large."""

    async def register_tool(self, definition, *, signs=False, **terms):
        """Register a free tool that is open to all leaders, and signs its answers on request."""
        if signs:
            terms |= {"keys": (KEY.public_key,), "requires_signed_outcome": True}
        tools = ToolRegistry(self.owner, self.deployment)
        await tools.register(Registration(definition, **terms))
        return await tools.get(definition.fqn)

    async def update(self, fqn, **terms):
        """Change a tool of the owner."""
        await ToolRegistry(self.owner, self.deployment).update(fqn, **terms)

    async def publish(self, document):
        """Publish the workflow of a document."""
        self.published += 1
        fqn = f"xyz.example.economy.flow{self.published}@1"
        workflows = Workflows(self.owner, self.deployment)
        await workflows.publish(document, fqn)
        return await workflows.get(fqn)

    async def begin(self, workflow, values=None, **terms):
        """Start an execution of it, with entry values by vertex and port."""
        execution = ActiveExecution(self, workflow)
        await execution.begin(values or {}, **terms)
        return execution


class ActiveExecution:
    """One execution; `gained_mist` is the net gain of the worker's transactions."""

    def __init__(self, stage, workflow):
        self.stage, self.workflow, self.plan = stage, workflow, workflow.plan
        self.names = list(workflow.plan.vertices)
        self.requests, self.read_bytes = {}, []
        self.gained_mist = []
        self.costs, self.fees_mist = [], []
        self.refusals, self.ended = [], None

    async def begin(
        self,
        values,
        *,
        funds_mist=20 * MIST,
        max_price_mist=10**9,
        max_timeout_ms=3_600_000,
        max_steps=1_000,
        duration_ms=86_400_000,
        max_outcome_bytes=65_536,
    ):
        stage = self.stage
        settings = await LeaderRegistry(stage.owner, stage.deployment).settings()
        builder, package = TransactionBuilder(), stage.deployment.workflows
        execution = calls.start(
            builder,
            package,
            stage.deployment.leader_registry,
            settings.revision,
            self.workflow.id,
            list(self.plan.groups).index(DEFAULT_GROUP),
            stage.leader,
            [max_price_mist] * len(self.workflow.tools),
            max_timeout_ms,
            max_outcome_bytes,
            max_steps,
            duration_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for vertex, ports in values.items():
            given = make_ports(builder, stage.deployment.package, ports_of(ports))
            calls.add_entry_values(builder, package, execution, self.names.index(vertex), given)
        calls.share(builder, package, execution)
        sent = await PackageClient(stage.owner, stage.deployment).send(builder)
        events = self._events(sent)
        self._has_begun(events)
        return events

    def _has_begun(self, events):
        [begun] = [event for event in events if isinstance(event, ExecutionStarted)]
        self.id = begun.execution
        foresight = StepPredictor(self.plan)
        foresight.add_start(DEFAULT_GROUP)
        self.steps = foresight.steps()

    async def take(self, steps=None):
        """Execute the due steps as the worker."""
        builder = TransactionBuilder()
        self._add_steps(builder, self.steps if steps is None else steps)
        await self.send(builder)

    async def close(self, vertex, answer, *, path=(), signed=False):
        """Close a run with an answer or a failure, and continue, in one transaction.

        A signed answer to inputs that are too large fails, as with a Leader. Return the outcome.
        """
        builder, foresight = TransactionBuilder(), StepPredictor(self.plan)
        deployment, leader = self.stage.deployment, self.stage.leader
        run = Run(vertex, path)
        event, attempt = self.requests.pop(run), None
        if signed and isinstance(answer, Answer):
            answer, attempt = await self._signed(run, event, answer)
        add_outcome(builder, deployment, event.invocation, leader, answer, attempt=attempt)
        add_advance(builder, deployment, self.id, self.workflow.id, event.invocation)
        foresight.add_closing(run, event.attempt.number, execution_outcome(answer))
        self.steps = foresight.steps()
        self._add_steps(builder, self.steps)
        await self.send(builder)
        return answer

    async def _signed(self, run, event, answer, *, signed=True):
        """Return an answer with its signature, and the data needed to assemble its inputs."""
        stage = self.stage
        execution = await PackageClient(stage.worker, stage.deployment).read(self.id, Execution)
        resolver = RunInputResolver(stage.worker, stage.deployment)
        named = execution, self.workflow, run
        sources, inputs = await resolver.sources(*named), await resolver.inputs(*named)
        size = await resolver.read_bytes(*named, inputs)
        self.read_bytes.append(size)
        if size > event.attempt.max_read_bytes and not stage.is_reckless:
            return Failure(FailureReason.INPUT_INVALID, "the inputs are too large"), None
        attempt = RunAttempt(self.id, self.workflow.id, sources)
        if not signed:
            return answer, attempt
        message = b"".join(
            (
                b"nexus_tools::outcome",
                bytes(event.invocation),
                _digest(inputs),
                encode_string(answer.variant),
                _digest(ports_of(answer.ports)),
            )
        )
        signature = OutcomeSignature(KEY.public_key, KEY.private.sign(message))
        return Answer(answer.variant, answer.ports, signature), attempt

    def _add_steps(self, builder, steps):
        commands = StepCommands(self.stage.deployment, self.workflow.id, self.plan)
        for step in steps:
            commands.add(builder, self.id, self.stage.leader, step)

    async def send(self, builder):
        """Send a transaction of the worker, and return its events."""
        worker = self.stage.worker
        before = await worker.balance(worker.address)
        sent = await PackageClient(worker, self.stage.deployment).send(builder)
        events = self._events(sent)
        for entry in events:
            if isinstance(entry, InvocationRequested):
                run = entry.attempt.run
                self.requests[Run(self.names[run.vertex], tuple(run.path))] = entry
            if isinstance(entry, RunRefused):
                self.refusals.append(entry.reason)
            if isinstance(entry, ExecutionEnded):
                self.ended = entry
        self.costs.append(sent.cost)
        self.fees_mist.append(sum(getattr(event, "fee_mist", 0) for event in events))
        self.gained_mist.append(await worker.balance(worker.address) - before)
        return events

    async def clean(self):
        """Delete all remaining objects as the owner."""
        await Executions(self.stage.owner, self.stage.deployment).clean(self.id)

    def _events(self, sent):
        return [parse_event(self.stage.deployment, event) for event in sent.events]


def _digest(ports):
    return blake2b(ports.bcs.encode(ports), digest_size=32).digest()
