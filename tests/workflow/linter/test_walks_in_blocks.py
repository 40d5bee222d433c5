"""Findings in regions and loops occur when the document is executed."""

from itertools import islice, product
from math import prod
from random import Random

import pytest

from nexus_tools.workflow import (
    DEFAULT_GROUP,
    EdgeKind,
    Execution,
    GroupStarted,
    OutputPort,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    create_plan,
    find_structure,
)
from nexus_tools.workflow.document.document import ERR_EVAL
from nexus_tools.workflow.linter.graph import Graph
from nexus_tools.workflow.linter.token_flow import token_flow
from tests.workflow.random_documents import Grown

MOST = 128


class Executed:
    """Executions in which each vertex ends in one variant, but for the last round of its loop."""

    def __init__(self, document):
        self._document = document
        self._plan = create_plan(document)
        self._lists = {edge.source for edge in document.edges if edge.kind is EdgeKind.FOR_EACH}
        self._again = {
            (edge.source.vertex, edge.source.variant)
            for edge in document.edges
            if edge.kind is EdgeKind.DO_WHILE
        }
        self.ran, self.raced = set(), set()
        named = {vertex.name: set() for vertex in document.vertices}
        for edge in document.edges:
            named[edge.source.vertex].add(edge.source.variant)
        # A vertex that has only edges for failures may also succeed.
        self._options = {
            vertex: sorted(variants) if variants - {ERR_EVAL} else [*variants, "dead"]
            for vertex, variants in named.items()
        }
        self.are_all = prod(map(len, self._options.values())) <= MOST

    def all(self):
        """Execute every choice, or `MOST` random ones."""
        options = self._options.values()
        choices = product(*options)
        if not self.are_all:
            choices = ([*map(Random(at).choice, options)] for at in range(MOST))
        for choice in choices:
            self._execute(dict(zip(self._options, choice, strict=True)))
        return self

    def _execute(self, taken):
        execution = Execution(self._plan)
        execution.apply(GroupStarted(DEFAULT_GROUP))
        while execution.status is Status.RUNNING:
            for run in list(execution.ready()):
                execution.apply(RunRequested(run))
            for run in list(islice(execution.under_way(), 1)):
                self.ran.add(run.vertex)
                variant = taken[run.vertex]
                if (run.vertex, variant) in self._again and run.path[-1]:
                    variant = "done"
                execution.apply(RunClosed(run, self._outcome(run.vertex, variant)))
        self.raced |= {
            failure.run.vertex
            for failure in execution.failures
            if failure.reason == "input_conflict"
        }

    def _outcome(self, vertex, variant):
        if variant == ERR_EVAL:
            return RunFailed("any")
        ports = (OutputPort(vertex, variant, port) for port in "pq")
        return RunSettled(
            variant, {each.port: 1 if each in self._lists else None for each in ports}
        )


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_never_runs_and_races_match_random_executions(start):
    for seed in range(start, start + 30):
        document = Grown(seed).document()
        structure = find_structure(document)
        if structure.problems:
            continue
        executed = Executed(document).all()
        for violation in token_flow(document, Graph(document), structure):
            place = violation.pointer.split("/")
            if violation.rule == "never_runs":
                assert document.vertices[int(place[2])].name not in executed.ran, seed
            elif violation.rule == "races" and executed.are_all:
                assert document.edges[int(place[2])].target.vertex in executed.raced, seed
