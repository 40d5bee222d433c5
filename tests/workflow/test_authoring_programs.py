"""Random programs: what the author's view lets through is a workflow, and runs as it reads."""

import json
import random
from contextlib import suppress
from itertools import product

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.tool import ToolDefinition
from nexus_tools.workflow import Workflow, read_document
from nexus_tools.workflow.linter import lint
from nexus_tools.workflow.plan import plan_of
from nexus_tools.workflow.runs import Begun, Closed, Requested, Settled, Status
from nexus_tools.workflow.semantics import Execution
from nexus_tools.workflow.structure import structure_of

PORTS = {
    "type": "object",
    "properties": {"value": {}, "items": {"type": "array"}},
    "required": ["value", "items"],
}
TOOL = ToolDefinition.parse(
    {
        "fqn": "xyz.example.test.work@1",
        "url": "https://tools.example.com/work",
        "input_schema": {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}},
        "output_schema": {
            "oneOf": [
                {"type": "object", "properties": {name: PORTS}, "required": [name]}
                for name in ("ok", "more", "err")
            ]
        },
    }
)
TIMES = 2
"""How many elements each list has, and how many rounds each loop."""


class Program:
    """A program that is written at random, for tools that give `ok`, or `more` for another round.

    It tries values anywhere; what is refused is left out. `around` has the blocks of each step,
    outermost first, and `running` the steps that run: all but those for what went wrong.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.flow = Workflow("xyz.example.test.flow@1")
        self.values = [*self.flow.inputs(given=str), 1]
        self.failed = []
        self.around = {}
        self.running = set()
        self.deciding = set()
        self.step(())
        for _ in range(5):
            self.anything(())
        self.document = self.flow.document()

    def anything(self, around):
        """A step, a handler or a block."""
        kinds = [self.step, self.step, self.handler, self.for_each, self.loop]
        self.random.choice(kinds if len(around) < 3 else kinds[:3])(around)

    def step(self, around, first=()):
        """A step that takes the `first` values, else the input, and others if it can."""
        first = first or [self.values[0]]
        others = self.random.choices(self.values, k=self.random.randint(0, 2))
        try:
            step = self.flow.add(TOOL, dict(zip("abc", [*first, *others], strict=False)))
        except NexusError:
            step = self.flow.add(TOOL, dict(zip("abc", first, strict=False)))
        if self.random.random() < 0.2:
            with suppress(NexusError):
                step.after(self.random.choice(self.values))
        self.running.add(self.named(around))
        either = self.flow.first(step.ok.value, step.err.value)
        self.values.append(self.random.choice([step.ok.value, either]))
        self.failed.append((step.failed.reason, around))
        return step

    def handler(self, around):
        """A step that takes what went wrong with another of its block, or with its handler."""
        near = [reason for reason, home in self.failed if home is around]
        if near:
            step = self.flow.add(TOOL, a=self.random.choice(near))
            self.named(around)
            self.failed.append((step.ok.value, around))

    def named(self, around):
        """The name of the last step, of which the blocks are noted."""
        name = f"work_{len(self.around) + 1}" if self.around else "work"
        self.around[name] = around
        return name

    def for_each(self, around):
        items = self.step(around).ok.items
        with self.flow.for_each(items) as element:
            inner = (*around, "region")
            self.values.append(element)
            step = self.step(inner, [element] if self.random.random() < 0.7 else ())
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
        either = self.flow.first(step.ok.value, step.err.value)
        self.values.append(self.flow.collect(self.random.choice([step.ok.value, either])))

    def loop(self, around):
        begin = self.step(around).ok.value if around else self.random.choice(self.values)
        changed = self.random.choice([None, self.random.choice(self.values)])
        try:
            loop = self.flow.loop(one=begin, two=changed or 1)
        except NexusError:
            return
        with loop:
            inner = (*around, "loop")
            step = self.step(inner, [loop.one])
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
            decides = self.step(inner, [step.ok.value, loop.two])
            self.deciding.add(f"work_{len(self.around)}")
            again = {"one": decides.more.value} | ({"two": decides.more.items} if changed else {})
            loop.again(**again)
        self.step(around, [decides.ok.value])


def all_runs(document, deciding):
    """The paths of all runs of each vertex, and whether anything went wrong."""
    execution = Execution(plan_of(document))
    execution.apply(Begun(document.groups()[0].name))
    runs = {vertex.name: set() for vertex in document.vertices}
    while ready := list(execution.ready()):
        for run in ready:
            runs[run.vertex].add(run.path)
            execution.apply(Requested(run))
            goes_on = run.vertex in deciding and run.path[-1] + 1 < TIMES
            outcome = Settled("more" if goes_on else "ok", {"value": None, "items": TIMES})
            execution.apply(Closed(run, outcome))
    assert list(execution.failures) == []
    assert execution.status is Status.COMPLETED
    return runs


@pytest.mark.parametrize("seed", range(100))
def test_whatever_is_written_is_a_workflow_with_the_blocks_of_its_program(seed):
    program = Program(seed)
    document = program.document
    assert [each for each in lint(document) if each.is_error] == []
    assert read_document(json.dumps(document.as_json())) == (document, [])
    structure = structure_of(document)
    assert structure.problems == ()
    blocks = {
        name: tuple(structure.blocks[number].kind.value for number in numbers)
        for name, numbers in structure.around.items()
    }
    assert blocks == program.around


@pytest.mark.parametrize("seed", range(100))
def test_each_step_runs_for_each_element_and_in_each_round_of_its_blocks(seed):
    program = Program(seed)
    assert all_runs(program.document, program.deciding) == {
        name: set(product(range(TIMES), repeat=len(around))) if name in program.running else set()
        for name, around in program.around.items()
    }
