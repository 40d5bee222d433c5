"""Which runs there are, and what they take, does not depend on the order of events."""

import random
from functools import cache

import pytest

from nexus_tools.workflow import (
    DEFAULT_GROUP,
    CollectedList,
    Execution,
    GivenValue,
    GroupStarted,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    create_plan,
    find_structure,
)
from tests.workflow.naive_interpreter import FAILED, Interpreter
from tests.workflow.random_documents import BOUND, grown, outcome_of, strewn


class Played:
    """An execution in a random order of events, with the values that runs would have taken."""

    def __init__(self, plan, outcome, order):
        self.execution, self._outcome = Execution(plan), outcome
        self._values = {}
        self.runs = {}
        chance = random.Random(order)
        self.execution.apply(GroupStarted(DEFAULT_GROUP))
        while self.execution.status is Status.RUNNING:
            ready, under_way = list(self.execution.ready()), list(self.execution.under_way())
            run = chance.choice(ready + under_way)
            if run in ready:
                self.execution.apply(RunRequested(run))
            else:
                self._close(run)

    def _close(self, run):
        inputs = self.execution.inputs(run)
        self.runs[run.vertex, run.path] = {
            port: self._resolved(value) for port, value in inputs.items()
        }
        variant, ports = self._outcome(run.vertex, run.path, self.execution.attempt(run))
        self._values[run] = ports
        lengths = {
            port: len(value) if isinstance(value, list) else None for port, value in ports.items()
        }
        failed = variant == FAILED
        self.execution.apply(
            RunClosed(run, RunFailed("timed_out") if failed else RunSettled(variant, lengths))
        )

    def _resolved(self, value):
        if isinstance(value, GivenValue):
            return "given"
        if isinstance(value, CollectedList):
            return [self._resolved(each) for each in self.execution.collected(value)]
        ports = self._values[value.run] or {"reason": "reason", "detail": "detail"}
        found = ports[value.port]
        return found if value.element is None else found[value.element]

    @property
    def raced(self):
        return any(failure.reason == "input_conflict" for failure in self.execution.failures)

    @property
    def failed(self):
        return {(failure.run, failure.reason) for failure in self.execution.failures}


@cache
def documents(make, seeds):
    """Those whose blocks nest, by their seed, with all that a test needs."""
    made = {seed: make(seed) for seed in seeds}
    return {
        seed: (
            document,
            find_structure(document),
            create_plan(document),
            outcome_of(document, seed),
        )
        for seed, document in made.items()
        if not find_structure(document).problems
    }


def last_attempt(document, outcome):
    """Return a function that returns the outcome of a run after all attempts."""
    attempts = {vertex.name: vertex.attempts for vertex in document.vertices}

    def last(vertex, path):
        tried = (outcome(vertex, path, each + 1) for each in range(attempts[vertex]))
        return next((each for each in tried if each[0] != FAILED), (FAILED, {}))

    return last


CHUNKS = [(grown, range(start, start + 50)) for start in range(0, 300, 50)]
CHUNKS += [(strewn, range(start, start + 1_000)) for start in range(0, 4_000, 1_000)]
by_chunk = pytest.mark.parametrize(
    ("make", "seeds"), CHUNKS, ids=[f"{make.__name__}-{seeds.start}" for make, seeds in CHUNKS]
)


@by_chunk
def test_runs_and_values_equal_those_of_a_naive_interpreter(make, seeds):
    for seed, (document, structure, plan, outcome) in documents(make, seeds).items():
        last = last_attempt(document, outcome)
        naive = Interpreter(document, structure, DEFAULT_GROUP, last, bound=BOUND).run()
        played = Played(plan, outcome, seed)
        assert played.raced == naive.races, seed
        if not naive.races:
            assert played.runs == naive.runs, seed
            assert {(run.vertex, run.path) for run, _ in played.failed} == naive.failed, seed


@by_chunk
def test_result_does_not_depend_on_the_order_of_events(make, seeds):
    for seed, (_, _, plan, outcome) in documents(make, seeds).items():
        first, *others = (Played(plan, outcome, f"{seed} {order}") for order in range(4))
        for other in others:
            assert other.raced == first.raced, seed
            if not first.raced:
                assert other.runs == first.runs, seed
                assert other.failed == first.failed, seed
                assert other.execution.results() == first.execution.results(), seed
                assert set(other.execution.waiting()) == set(first.execution.waiting()), seed
