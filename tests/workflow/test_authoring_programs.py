"""Random programs: what the author's view lets through is a workflow, with the blocks it has."""

import json
import random
from collections import Counter
from contextlib import suppress

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.tool import ToolDefinition
from nexus_tools.workflow import Workflow, read_document
from nexus_tools.workflow.linter import lint
from nexus_tools.workflow.structure import structure_of

ANYTHING = {"value": {}, "items": {"type": "array"}}


def branch(name):
    ports = {"type": "object", "properties": ANYTHING, "required": ["value", "items"]}
    return {"type": "object", "properties": {name: ports}, "required": [name]}


TOOL = ToolDefinition.parse(
    {
        "fqn": "xyz.example.test.work@1",
        "url": "https://tools.example.com/work",
        "input_schema": {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}},
        "output_schema": {"oneOf": [branch("ok"), branch("more"), branch("err")]},
    }
)


class Program:
    """A program that is written at random; `around` has the blocks of each step, outermost first.

    It tries any value anywhere: what is refused is left out.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.flow = Workflow("xyz.example.test.flow@1")
        self.values = [*self.flow.inputs(given=str), 1]
        self.around = {}
        self.refused = Counter()
        first = self.step((), [self.values[0]])
        self.connected = [first.ok.value]
        for _ in range(5):
            self.anything(())

    def anything(self, around):
        """A step or a block."""
        kinds = [self.step, self.step, self.for_each, self.loop]
        try:
            self.random.choice(kinds if len(around) < 3 else kinds[:2])(around)
        except NexusError as error:
            self.refused[error.code] += 1

    def some(self):
        return self.random.choice(self.values)

    def step(self, around, first=()):
        """A step that takes the `first` values, else of the first step, and others if it can."""
        first = first or self.connected
        fed = [*first, *(self.some() for _ in range(self.random.randint(0, 2)))]
        try:
            step = self.flow.add(TOOL, dict(zip("abc", fed, strict=False)))
        except NexusError as error:
            self.refused[error.code] += 1
            step = self.flow.add(TOOL, dict(zip("abc", first, strict=False)))
        self.around[f"work_{len(self.around) + 1}" if self.around else "work"] = around
        if self.random.random() < 0.2:
            with suppress(NexusError):
                step.after(self.some())
        self.values += [step.ok.value, step.failed.reason]
        if self.random.random() < 0.3:
            self.values.append(self.flow.first(step.ok.value, step.err.value))
        return step

    def for_each(self, around):
        items = self.step(around).ok.items
        with self.flow.for_each(items) as element:
            inner = (*around, "region")
            self.values.append(element)
            step = self.step(inner, [element] if self.random.random() < 0.7 else ())
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
        self.values.append(self.flow.collect(step.ok.value))

    def loop(self, around):
        begin = self.step(around).ok.value if around else self.some()
        with self.flow.loop(one=begin, two=self.some()) as loop:
            inner = (*around, "loop")
            step = self.step(inner, [loop.one])
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
            decides = self.step(inner, [step.ok.value])
            loop.again(one=decides.more.value)
        self.step(around, [decides.ok.value])


@pytest.mark.parametrize("seed", range(300))
def test_whatever_is_written_is_a_workflow_with_the_blocks_of_its_program(seed):
    program = Program(seed)
    document = program.flow.document()
    assert [each for each in lint(document) if each.is_error] == []
    assert read_document(json.dumps(document.as_json())) == (document, [])
    structure = structure_of(document)
    assert structure.problems == ()
    blocks = {
        name: tuple(structure.blocks[number].kind.value for number in numbers)
        for name, numbers in structure.around.items()
    }
    assert blocks == program.around
