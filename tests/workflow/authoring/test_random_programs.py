"""Random programs: what the author's view lets through is a workflow, and runs as it reads."""

import json
import random
from contextlib import suppress

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.tool import ToolDefinition
from nexus_tools.workflow import Workflow, read_document
from nexus_tools.workflow.document.structure import find_structure
from nexus_tools.workflow.linter import lint
from nexus_tools.workflow.semantics.plan import create_plan
from nexus_tools.workflow.semantics.runs import (
    GivenValue,
    GroupStarted,
    Reference,
    RunClosed,
    RunRequested,
    RunSettled,
    Status,
)
from nexus_tools.workflow.semantics.semantics import Execution

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
    outermost first. `lines` is the program once more, for `Plain`: what stands in it for a value is
    where the value comes from.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.flow = Workflow("xyz.example.test.flow@1")
        self.around = {}
        self.lines = []
        self.origins = {}
        self.failed = []
        self.deciding = set()
        self.values = [1]
        self.origins[id(1)] = ("constant", 1)
        [given] = self.flow.inputs(given=str)
        self.offer(given, ("input", "given"))
        self.step((), [given])
        self.given = given
        for _ in range(5):
            self.anything(())
        self.document = self.flow.document()

    def offer(self, value, origin):
        """A value that may be used from now on; it stays, so that nothing else has its id."""
        self.values.append(value)
        self.origins[id(value)] = origin

    def anything(self, around):
        """A step, a handler or a block."""
        kinds = [self.step, self.step, self.handler, self.for_each, self.loop]
        self.random.choice(kinds if len(around) < 3 else kinds[:3])(around)

    def step(self, around, first=()):
        """A step that takes the `first` values, else the input, and others if it can."""
        first = first or [self.given]
        fed = [*first, *self.random.choices(self.values, k=self.random.randint(0, 2))]
        try:
            step = self.flow.add(TOOL, dict(zip("abc", fed, strict=False)))
        except NexusError:
            fed = first
            step = self.flow.add(TOOL, dict(zip("abc", first, strict=False)))
        if self.random.random() < 0.2:
            with suppress(NexusError):
                step.after(self.random.choice(self.values))
        name = self.named(around)
        origins = [self.origins[id(value)] for value in fed]
        self.lines.append(("step", name, dict(zip("abc", origins, strict=False))))
        either = self.flow.first(step.ok.value, step.err.value)
        self.offer(self.random.choice([step.ok.value, either]), ("port", name, "value"))
        self.failed.append((step.failed.reason, around))
        return name, step

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
        source, listing = self.step(around)
        outside, self.lines = self.lines, []
        with self.flow.for_each(listing.ok.items) as element:
            inner = (*around, "region")
            self.offer(element, ("element", source))
            name, step = self.step(inner, [element] if self.random.random() < 0.7 else ())
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
        outside.append(("for_each", source, name, self.lines))
        self.lines = outside
        either = self.flow.first(step.ok.value, step.err.value)
        collected = self.flow.collect(self.random.choice([step.ok.value, either]))
        self.offer(collected, ("collected", name))
        self.result(around, collected, ("collected", name))

    def result(self, around, value, origin):
        """A result, if it is one outside of all blocks."""
        if not around:
            self.flow.output(f"result_{len(self.around)}", value)
            self.lines.append(("output", f"result_{len(self.around)}", origin))

    def loop(self, around):
        begin = self.random.choice(self.values)
        if around:
            self.step(around)
            begin = self.values[-1]
        changed = self.random.choice([None, self.random.choice(self.values)])
        try:
            loop = self.flow.loop(one=begin, two=changed or 1)
        except NexusError:
            return
        outside, self.lines = self.lines, []
        key = f"loop_{len(self.around)}"
        self.origins |= {id(loop[name]): ("state", key, name) for name in ("one", "two")}
        with loop:
            inner = (*around, "loop")
            name, step = self.step(inner, [loop.one])
            value = step.ok.value
            self.origins[id(value)] = ("port", name, "value")
            for _ in range(self.random.randint(0, 2)):
                self.anything(inner)
            name, decides = self.step(inner, [value, loop.two])
            self.deciding.add(name)
            again = {"one": "value"} | ({"two": "items"} if changed else {})
            loop.again(**{state: decides.more[port] for state, port in again.items()})
        state = {"one": self.origins[id(begin)], "two": self.origins[id(changed or 1)]}
        later = {state: ("port", name, port) for state, port in again.items()}
        outside.append(("loop", key, state, later, self.lines))
        self.lines = outside
        left = decides.ok.value
        self.offer(left, ("port", name, "value"))
        self.result(around, left, ("port", name, "value"))
        if around or self.random.random() < 0.5:
            self.step(around, [left])


class Plain:
    """The same program in plain Python: `for` goes through lists, and through the rounds of a loop.

    `taken` has what each step took, by its name and where it was run. A value is identified by its
    source, for example `work[0].items[1]`.
    """

    def __init__(self, lines):
        self.taken = {}
        self.results = {}
        self.ran = {}
        self.told = {}
        self.run(lines, ())

    def run(self, lines, path):
        for kind, *line in lines:
            getattr(self, kind)(path, *line)

    def step(self, path, name, feeds):
        self.ran[name] = f"{name}{list(path)}"
        self.taken[name, path] = {port: self.value(origin) for port, origin in feeds.items()}

    def for_each(self, path, source, name, lines):
        listing = f"{self.ran[source]}.items"
        collected = []
        for number in range(TIMES):
            self.told["element", source] = f"{listing}[{number}]"
            self.run(lines, (*path, number))
            collected.append(f"{self.ran[name]}.value")
        self.told["collected", name] = collected

    def loop(self, path, key, state, later, lines):
        now = {name: self.value(origin) for name, origin in state.items()}
        for number in range(TIMES):
            self.told |= {("state", key, name): value for name, value in now.items()}
            self.run(lines, (*path, number))
            now |= {name: self.value(origin) for name, origin in later.items()}

    def output(self, _, name, origin):
        value = self.value(origin)
        self.results[name] = value if isinstance(value, list) else [value]

    def value(self, origin):
        match origin:
            case ("port", name, port):
                return f"{self.ran[name]}.{port}"
            case ("constant" | "input", value):
                return value
        return self.told[origin]


class Executed:
    """The execution of a document by the semantics, with values in the same form."""

    def __init__(self, document, deciding):
        self.defaults = {default.target: default.data for default in document.defaults}
        self.execution = execution = Execution(create_plan(document))
        execution.apply(GroupStarted(document.groups()[0].name))
        self.taken = {}
        while ready := list(execution.ready()):
            for run in ready:
                inputs = execution.inputs(run)
                told = {port: self.value(value) for port, value in inputs.items()}
                self.taken[run.vertex, run.path] = told
                execution.apply(RunRequested(run))
                goes_on = run.vertex in deciding and run.path[-1] + 1 < TIMES
                outcome = RunSettled("more" if goes_on else "ok", {"value": None, "items": TIMES})
                execution.apply(RunClosed(run, outcome))

        self.results = {}
        for result in execution.results():
            if result.name:
                self.results.setdefault(result.name, []).append(self.value(result.value))

    def value(self, value):
        match value:
            case GivenValue(target):
                return self.defaults.get(target, "given")
            case Reference(run, port, element):
                item = "" if element is None else f"[{element}]"
                return f"{run.vertex}{list(run.path)}.{port}{item}"
        return [self.value(each) for each in self.execution.collected(value)]


@pytest.mark.parametrize("seed", range(100))
def test_random_program_gives_a_valid_workflow_with_its_blocks(seed):
    program = Program(seed)
    document = program.document
    assert [each for each in lint(document) if each.is_error] == []
    assert read_document(json.dumps(document.as_json())) == (document, [])
    structure = find_structure(document)
    assert structure.problems == ()
    blocks = {
        name: tuple(structure.blocks[number].kind.value for number in numbers)
        for name, numbers in structure.enclosing.items()
    }
    assert blocks == program.around


@pytest.mark.parametrize("seed", range(100))
def test_random_workflow_runs_like_its_program(seed):
    program = Program(seed)
    executed = Executed(program.document, program.deciding)
    plain = Plain(program.lines)
    assert executed.taken == plain.taken
    assert executed.results == plain.results
    assert list(executed.execution.failures) == []
    assert executed.execution.status is Status.COMPLETED
