"""The local execution of a workflow. The semantics select runs, and stubs or tools answer them."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support import units
from nexus_tools.tool import (
    MAX_TIMEOUT_MS,
    Answer,
    Failure,
    FailureReason,
    HasSchemas,
    InterfaceValidator,
    Outcome,
)
from nexus_tools.workflow.document.document import Document, InputPort, OutputPort
from nexus_tools.workflow.semantics.plan import create_plan
from nexus_tools.workflow.semantics.runs import (
    CollectedList,
    Event,
    ExecutionCancelled,
    ExecutionTimedOut,
    GivenValue,
    GroupStarted,
    Run,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    Value,
    Waiting,
    WalkFailure,
)
from nexus_tools.workflow.semantics.semantics import Execution
from nexus_tools.workflow.simulation.entries import (
    default_values,
    entry_values,
    known_tools,
    select_entry_group,
)
from nexus_tools.workflow.simulation.example_stubs import example_stub
from nexus_tools.workflow.simulation.step_costs import StepCosts
from nexus_tools.workflow.simulation.stubs import StubFunction, outcome_json
from nexus_tools.workflow.simulation.tool_calls import SimulatedTool, ToolCalls

DEFAULT_MAX_STEPS = 1_000


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """One tool call, with its run, its start and end, its inputs and its outcome.

    Times are in ms since the start of the execution.
    """

    run: Run
    attempt: int
    fqn: str
    started_ms: int
    ended_ms: int
    inputs: Mapping[str, Any]
    outcome: Outcome
    cost_mist: int

    def as_json(self) -> dict[str, Any]:
        """Return a document with `answer`, or with `failure` and `detail`."""
        if isinstance(self.outcome, Answer):
            outcome: dict[str, Any] = {"answer": self.outcome.as_json()}
        else:
            outcome = {"failure": self.outcome.reason.value, "detail": self.outcome.detail}
        return {
            **_run_json(self.run),
            "attempt": self.attempt,
            "tool": self.fqn,
            "started_ms": self.started_ms,
            "ended_ms": self.ended_ms,
            "inputs": dict(self.inputs),
            **outcome,
            "cost_mist": self.cost_mist,
        }


@dataclass(frozen=True, slots=True)
class SimulatedResult:
    """A result value of an execution. `name` is the name of the output, or an empty string."""

    source: OutputPort
    path: tuple[int, ...]
    value: Any
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a document with the port, the path of its run, and the value."""
        return {
            "name": self.name or None,
            **self.source.as_json(),
            "path": list(self.path),
            "value": self.value,
        }


@dataclass(frozen=True, slots=True)
class Simulation:
    """The result of a simulated execution and its history.

    `events` are the applied events, with their times in ms since the start. `generated` names the
    vertices without a stub or tool, whose answers are examples. `stop_reason` names the step limit
    or the deadline if it stopped the execution, and is empty otherwise.
    """

    status: Status
    calls: tuple[SimulatedCall, ...]
    results: tuple[SimulatedResult, ...]
    failures: tuple[WalkFailure, ...]
    waiting: tuple[Waiting, ...]
    events: tuple[tuple[int, Event], ...]
    generated: tuple[str, ...]
    stop_reason: str
    time_ms: int

    @property
    def cost_mist(self) -> int:
        """The estimated cost of all calls in MIST (see `StepCosts`)."""
        return sum(call.cost_mist for call in self.calls)

    def reasons(self) -> Iterator[str]:
        """Yield a sentence for an early end, each unhandled failure, and each waiting run."""
        if self.stop_reason:
            yield self.stop_reason
        attempts = Counter(call.run for call in self.calls)
        for failure in self.failures:
            tries = attempts[failure.run]
            after = f" after {tries} attempts" if tries > 1 else ""
            detail = failure.detail and f": {failure.detail}"
            yield f"{failure.run} failed{after}, {failure.reason}{detail}"
        for wait in self.waiting:
            ports = ", ".join(str(InputPort(wait.run.vertex, port)) for port in wait.missing)
            yield f"{wait.run} did not start: {ports} received no value"

    def stubs(self) -> dict[str, list[dict[str, Any]]]:
        """Return a stubs document that reproduces this simulation with the same inputs."""
        found: dict[str, list[dict[str, Any]]] = {}
        for call in sorted(self.calls, key=lambda call: call.started_ms):
            duration_ms = call.ended_ms - call.started_ms
            found.setdefault(call.run.vertex, []).append(
                {"when": dict(call.inputs), "times": 1, "duration_ms": duration_ms}
                | outcome_json(call.outcome)
            )
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the whole simulation as a document, without the events."""
        return {
            "status": self.status.value,
            "time_ms": self.time_ms,
            "cost_mist": self.cost_mist,
            "results": [result.as_json() for result in self.results],
            "reasons": list(self.reasons()),
            "failures": [
                {**_run_json(failure.run), "reason": failure.reason, "detail": failure.detail}
                for failure in self.failures
            ],
            "waiting": [
                {**_run_json(waiting.run), "missing": list(waiting.missing)}
                for waiting in self.waiting
            ],
            "generated": list(self.generated),
            "calls": [call.as_json() for call in self.calls],
        }


async def simulate(
    document: Document,
    inputs: Mapping[str, Any],
    tools: Mapping[str, SimulatedTool] | None = None,
    *,
    group: str | None = None,
    definitions: Mapping[str, HasSchemas] | None = None,
    costs: StepCosts | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    deadline_ms: int | None = None,
    tool_timeout_ms: int = MAX_TIMEOUT_MS,
) -> Simulation:
    """Execute a workflow with stubs and tools.

    The keys of `tools` are names of vertices, or FQNs. A vertex without a stub or tool returns
    example values. The examples follow the tool's output schema if `definitions` (by FQN) has the
    tool. The inputs and answers of tools in `definitions` are validated. `inputs` has the same keys
    as for `entry_values`. A simulation with only stubs is deterministic and takes no real time.

    No tool is called after `max_steps` calls or after `deadline_ms`. A call of a real tool fails
    after `tool_timeout_ms`. Raises `workflow_invalid`, `remote_value_unavailable`,
    `stub_exhausted`, and the errors of `select_entry_group` and `entry_values`.
    """
    chosen = select_entry_group(document, group)
    simulator = _Simulator(
        document,
        entry_values(document, chosen, inputs, known_tools(document, definitions or {})),
        tools or {},
        definitions or {},
        costs or StepCosts(),
        max_steps,
        ToolCalls(tool_timeout_ms),
    )
    return await simulator.run(chosen.name, deadline_ms)


@dataclass
class _Simulator:
    """The simulation of one execution. The key of a tool call is a run, or the deadline."""

    document: Document
    entries: Mapping[InputPort, Any]
    tools: Mapping[str, SimulatedTool]
    definitions: Mapping[str, HasSchemas]
    costs: StepCosts
    max_steps: int
    tool_calls: ToolCalls[Run | Literal["deadline"]]
    answers: dict[Run, Answer] = field(default_factory=dict)
    calls: list[SimulatedCall] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    stopped: str = ""

    def __post_init__(self) -> None:
        self._execution = Execution(create_plan(self.document))
        self._vertices = {vertex.name: vertex for vertex in self.document.vertices}
        self._defaults = default_values(self.document)
        self._chosen: dict[str, SimulatedTool] = {}
        self._made_up: list[str] = []
        self._validators: dict[str, InterfaceValidator] = {}
        self._waiting: dict[str, deque[Run]] = {name: deque() for name in self._vertices}
        self._under_way: dict[Run, tuple[int, dict[str, Any]]] = {}
        self._busy = Counter[str]()
        self._steps = 0
        self._is_over = False

    async def run(self, group: str, deadline_ms: int | None) -> Simulation:
        if deadline_ms is not None:
            self.tool_calls.wait("deadline", deadline_ms)
        self._apply(GroupStarted(group))
        try:
            while self._execution.status is Status.RUNNING:
                ended = await self.tool_calls.next()
                if ended is None:
                    break
                self._go_on(*ended)
        finally:
            self.tool_calls.give_up()
        return self._simulation()

    def _go_on(self, key: Run | Literal["deadline"], outcome: Outcome | None) -> None:
        """Apply the event of an ended call, and start the calls that are then possible."""
        if isinstance(key, str):
            if self._is_over:
                return
            self.stopped = f"the deadline passed after {units.duration(self.tool_calls.now_ms)}"
            self._apply(ExecutionTimedOut())
        elif outcome is None:
            self._waiting[key.vertex].append(key)
            self._request(key.vertex)
        else:
            self._close(key, outcome)
            self._request(key.vertex)

    def _apply(self, event: Event) -> None:
        self.events.append((self.tool_calls.now_ms, event))
        change = self._execution.apply(event)
        # After an early end of the execution, the runs in the queues are no longer ready.
        vertices = self._execution.plan.vertices
        self._is_over |= isinstance(event, ExecutionCancelled | ExecutionTimedOut) or any(
            vertices[failure.run.vertex].terminates for failure in change.failures
        )
        for run in change.ready:
            delay_ms = self._vertices[run.vertex].retry_after_ms
            if delay_ms and self._execution.attempt(run) > 1:
                self.tool_calls.wait(run, delay_ms)
            else:
                self._waiting[run.vertex].append(run)
        for name in dict.fromkeys(run.vertex for run in change.ready):
            self._request(name)

    def _request(self, name: str) -> None:
        """Call the tool of a vertex for as many ready runs as `parallel` allows."""
        waiting, most = self._waiting[name], self._vertices[name].parallel
        while waiting and self._busy[name] < most and not self._is_over:
            if self._steps == self.max_steps:
                self.stopped = f"the limit of {self.max_steps} runs was reached"
                self._apply(ExecutionCancelled())
                return
            self._steps += 1
            self._busy[name] += 1
            self._call(waiting.popleft())

    def _call(self, run: Run) -> None:
        self._apply(RunRequested(run))
        values = self._execution.inputs(run)
        ports = {port: self._value(value) for port, value in values.items()}
        self._under_way[run] = (self.tool_calls.now_ms, ports)
        try:
            self._validate(run, lambda validator: validator.check_input(ports))
            self.tool_calls.call(run, self._tool(run.vertex), ports)
        except ValidationError as error:
            if error.code == "stub_exhausted":
                raise ValidationError(
                    error.code, f"{run}: {error.message}", hint=error.hint
                ) from error
            failure = Failure(FailureReason.INPUT_INVALID, _with_place(error))
            self.tool_calls.call(run, StubFunction(lambda _: failure, 0), {})

    def _close(self, run: Run, outcome: Outcome) -> None:
        if isinstance(outcome, Answer):
            document = outcome.as_json()
            try:
                self._validate(run, lambda validator: validator.check_output(document))
            except ValidationError as error:
                outcome = Failure(FailureReason.OUTPUT_INVALID, _with_place(error))
        started_ms, ports = self._under_way.pop(run)
        self._busy[run.vertex] -= 1
        fqn = self._vertices[run.vertex].fqn
        cost = self.costs.of(fqn, ports, outcome)
        attempt, now_ms = self._execution.attempt(run), self.tool_calls.now_ms
        self.calls.append(
            SimulatedCall(run, attempt, fqn, started_ms, now_ms, ports, outcome, cost)
        )
        if isinstance(outcome, Answer):
            self.answers[run] = outcome
        self._apply(RunClosed(run, _closing(outcome)))

    def _validate(self, run: Run, check: Callable[[InterfaceValidator], object]) -> None:
        """Validate a value with the definition of the run's tool, if the definition is known."""
        fqn = self._vertices[run.vertex].fqn
        if fqn in self.definitions:
            if fqn not in self._validators:
                self._validators[fqn] = InterfaceValidator(self.definitions[fqn])
            check(self._validators[fqn])

    def _tool(self, name: str) -> SimulatedTool:
        if name not in self._chosen:
            fqn = self._vertices[name].fqn
            tool = self.tools.get(name, self.tools.get(fqn))
            if tool is None:
                self._made_up.append(name)
                tool = example_stub(self.document, name, self.definitions.get(fqn))
            self._chosen[name] = tool
        return self._chosen[name]

    def _value(self, value: Value) -> Any:
        """Return the JSON value of a reference."""
        if isinstance(value, GivenValue):
            return self.entries.get(value.target, self._defaults.get(value.target))
        if isinstance(value, CollectedList):
            return [self._value(element) for element in self._execution.collected(value)]
        outcome = self._execution.outcome(value.run)
        if isinstance(outcome, RunFailed):
            return {"reason": outcome.reason, "detail": outcome.detail}[value.port]
        found = self.answers[value.run].ports[value.port]
        return found if value.element is None else found[value.element]

    def _simulation(self) -> Simulation:
        execution = self._execution
        results = (
            SimulatedResult(item.source, item.value.run.path, self._value(item.value), item.name)
            for item in execution.results()
        )
        return Simulation(
            execution.status,
            tuple(self.calls),
            tuple(results),
            tuple(execution.failures),
            tuple(execution.waiting()),
            tuple(self.events),
            tuple(self._made_up),
            self.stopped,
            self.calls[-1].ended_ms if self.calls else 0,
        )


def _closing(outcome: Outcome) -> RunSettled | RunFailed:
    """Convert an outcome for the semantics, which only need the ports and the lengths of lists."""
    if isinstance(outcome, Failure):
        return RunFailed(outcome.reason.value, outcome.detail)
    lengths = {
        port: len(value) if isinstance(value, list) else None
        for port, value in outcome.ports.items()
    }
    return RunSettled(outcome.variant, lengths)


def _with_place(error: ValidationError) -> str:
    """Return a message that describes the first mismatch of an error and its location."""
    first = next(iter(error.details.get("failures", ())), None)
    return f"{first['message']} at {first['pointer'] or '/'}" if first else error.message


def _run_json(run: Run) -> dict[str, Any]:
    return {"vertex": run.vertex, "path": list(run.path)}
