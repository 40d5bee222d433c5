"""The predicted steps after a closing, compared with the semantics of workflows."""

import random

import pytest

from nexus_tools.registry.executions.step_commands import (
    MAX_STEPS,
    GatherRegion,
    RequestIterations,
    RequestRun,
    StepPredictor,
    execution_outcome,
)
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    Document,
    Edge,
    EdgeKind,
    Execution,
    GroupStarted,
    InputPort,
    OutputPort,
    Run,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    Vertex,
    create_plan,
    find_structure,
)
from tests.workflow.naive_interpreter import FAILED
from tests.workflow.random_documents import grown, outcome_of, strewn

CHUNKS = [(grown, range(200)), (strewn, range(4_000))]


def vertex(name, **fields):
    return Vertex(name, "xyz.example.any@1", **fields)


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


def steps_after(plan, run, outcome, attempt=1):
    foresight = StepPredictor(plan)
    foresight.add_closing(run, attempt, outcome)
    return foresight.steps()


# --- Single predictions

LISTS = create_plan(
    Document(
        (
            vertex("start", entry_ports=("topic",)),
            vertex("sum", parallel=8),
            vertex("check", attempts=2),
            vertex("write"),
        ),
        (
            edge("start.ok.papers", "sum.paper", EdgeKind.FOR_EACH),
            edge("sum.ok.text", "check.text"),
            edge("check.ok.text", "write.notes", EdgeKind.COLLECT),
        ),
    )
)


def test_list_is_followed_by_one_iteration_per_element():
    steps = steps_after(LISTS, Run("start"), RunSettled("ok", {"papers": 3}))
    assert steps[0] == RequestIterations("sum", (), 3)


def test_long_list_is_followed_by_parallel_iterations():
    steps = steps_after(LISTS, Run("start"), RunSettled("ok", {"papers": 1_000}))
    assert steps[0] == RequestIterations("sum", (), 8)


def test_empty_list_is_gathered_and_its_target_requested():
    steps = steps_after(LISTS, Run("start"), RunSettled("ok", {"papers": 0}))
    assert steps == (GatherRegion(0, ()), RequestRun(Run("write")))


def test_iteration_is_followed_by_next_one_and_its_own_steps():
    steps = steps_after(LISTS, Run("sum", (4,)), RunSettled("ok", {"text": None}))
    assert steps[:2] == (RequestRun(Run("check", (4,))), RequestIterations("sum", (), 1))


def test_simultaneous_iterations_need_one_command():
    foresight = StepPredictor(LISTS)
    for number in range(3):
        foresight.add_closing(Run("sum", (number,)), 1, RunSettled("ok", {"text": None}))
    iterations = [step for step in foresight.steps() if isinstance(step, RequestIterations)]
    assert iterations == [RequestIterations("sum", (), 3)]


def test_failure_is_followed_by_next_attempt_except_the_last():
    run = Run("check", (0,))
    assert steps_after(LISTS, run, RunFailed("timed_out")) == (RequestRun(run),)
    assert steps_after(LISTS, run, RunFailed("timed_out"), attempt=2) == ()


def test_answer_without_edge_port_counts_as_failure():
    run = Run("check", (0,))
    assert steps_after(LISTS, run, RunSettled("ok", {})) == (RequestRun(run),)


def test_closed_with_has_lengths_of_lists():
    assert execution_outcome(Answer("ok", {"a": [1, 2], "b": "12"})) == RunSettled(
        "ok", {"a": 2, "b": None}
    )
    failure = Failure(FailureReason.TIMED_OUT, "late")
    assert execution_outcome(failure) == RunFailed("timed_out", "late")


# --- Comparison with the semantics


class Foreseen:
    """Runs an execution in random order, and checks that each ready run was predicted."""

    def __init__(self, plan, outcome, seed, limit):
        self.plan, self.execution = plan, Execution(plan)
        self._outcome, self._limit = outcome, limit
        self.compared = self.missed = 0
        chance = random.Random(seed)
        foresight = StepPredictor(plan)
        foresight.add_start(DEFAULT_GROUP)
        self._compare(foresight, self.execution.apply(GroupStarted(DEFAULT_GROUP)))
        while self.execution.status is Status.RUNNING:
            ready, under_way = list(self.execution.ready()), list(self.execution.under_way())
            run = chance.choice(ready + under_way)
            if run in ready:
                self.execution.apply(RunRequested(run))
            else:
                self._close(run)

    def _close(self, run):
        attempt = self.execution.attempt(run)
        variant, ports = self._outcome(run.vertex, run.path, attempt)
        outcome = execution_outcome(Answer(variant, ports))
        outcome = RunFailed("timed_out") if variant == FAILED else outcome
        foresight = StepPredictor(self.plan)
        foresight.add_closing(run, attempt, outcome)
        self._compare(foresight, self.execution.apply(RunClosed(run, outcome)))

    def _compare(self, foresight, change):
        steps = foresight.steps(self._limit)
        assert len(steps) <= self._limit
        assert len(set(steps)) == len(steps)
        requested = {step.run for step in steps if isinstance(step, RequestRun)}
        limits = {
            (step.vertex, step.path): step.limit
            for step in steps
            if isinstance(step, RequestIterations)
        }
        for run in change.ready:
            self.compared += 1
            if run not in requested:
                head = self._head(run)
                limits[head] = limits.get(head, 0) - 1
                self.missed += limits[head] < 0

    def _head(self, run):
        region = self.plan.vertices[run.vertex].region
        return run.vertex, run.path[: self.plan.blocks[region].depth] if region is not None else ()


@pytest.mark.parametrize(("make", "seeds"), CHUNKS, ids=["grown", "strewn"])
@pytest.mark.parametrize("limit", [1_000, MAX_STEPS])
def test_predicted_steps_include_all_ready_runs(make, seeds, limit):
    compared = missed = 0
    for seed in seeds:
        document = make(seed)
        if not find_structure(document).problems:
            result = Foreseen(create_plan(document), outcome_of(document, seed), seed, limit)
            compared, missed = compared + result.compared, missed + result.missed
    assert compared > 1_000
    # In few documents more than sixteen steps follow at once.
    assert missed == 0 if limit > MAX_STEPS else missed < compared / 100
