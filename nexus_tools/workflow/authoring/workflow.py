"""Workflows written in Python: a `Workflow` takes what its author says, and gives a document."""

import re
from collections.abc import Container, Iterable, Mapping
from itertools import chain, count
from typing import Any, overload

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, ToolFqn
from nexus_tools.workflow.authoring.assembly import VALUE_UNUSED, Located, assembled
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachTogether, Loop
from nexus_tools.workflow.authoring.feeding import as_origin, feed
from nexus_tools.workflow.authoring.lines import Line, authors_line
from nexus_tools.workflow.authoring.sketch import (
    Block,
    BlockKind,
    Collected,
    Draft,
    Feed,
    First,
    GivenInput,
    Origin,
    PortValue,
    Sketch,
    first_of,
)
from nexus_tools.workflow.authoring.steps import OnFailure, Step, failure_action
from nexus_tools.workflow.authoring.used_tool import KnownTool, UsedTool, known_tool
from nexus_tools.workflow.authoring.value import Value
from nexus_tools.workflow.authoring.ways import ways
from nexus_tools.workflow.document.document import Document
from nexus_tools.workflow.document.violation import Violation, violations_error
from nexus_tools.workflow.interfaces import Shape, ToolPorts, shape_of_type
from nexus_tools.workflow.linter import lint

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)


class Workflow:
    """A workflow that is being written: steps, and what goes from one to another.

    `fqn` and `description` are as tools have them. Whatever is known to be wrong is refused in the
    line that says it: errors have `file` and `line` in their details. Raises `ValidationError` with
    code `fqn_invalid` or `description_too_long`.
    """

    def __init__(self, fqn: str | ToolFqn, description: str = "") -> None:
        with authors_line() as line:
            self.fqn = fqn if isinstance(fqn, ToolFqn) else ToolFqn.parse(fqn)
            if len(description.encode()) > MAX_DESCRIPTION_BYTES:
                raise ValidationError(
                    "description_too_long",
                    f"a description has {MAX_DESCRIPTION_BYTES} bytes at most",
                    hint="say the rest in its documentation",
                )
        self.description = description
        self._sketch = Sketch(Block(BlockKind.WORKFLOW, line))
        self._tools: dict[int, tuple[UsedTool, KnownTool]] = {}

    def inputs(self, /, **types: Any) -> tuple[Value, ...]:
        """What an execution begins with, by name: values in the order of the types.

        A type is what pydantic makes a JSON schema of (`str`, `list[int]`, a model), a JSON schema,
        or a class with `parse`, such as `Address`, whose JSON is text. One input is unpacked as in
        `[topic] = flow.inputs(topic=str)`. Raises `UsageError`: `name_in_use`,
        `input_type_unknown`; `ValidationError`: `schema_invalid`.
        """
        with authors_line() as line:
            return tuple(self._input(name, kind, line) for name, kind in types.items())

    def _input(self, name: str, kind: Any, line: Line) -> Value:
        _check_name(name, self._sketch.inputs, "an input")
        given = GivenInput(self._sketch, self._sketch.root, shape_of_type(kind), name)
        self._sketch.inputs[name] = Feed(given, line)
        return Value(given)

    def add(
        self,
        tool: UsedTool,
        ports: Mapping[str, Any] | None = None,
        /,
        *,
        name: str = "",
        **more_ports: Any,
    ) -> Step:
        """A use of a tool, with a value for each port: of a step, of an input, or a constant.

        It belongs to the `with` block in which it is added. Ports whose names are words of Python,
        or `name`, are given as a mapping: `flow.add(send, {"from": me}, to=you)`. The step is
        called by `name`, else as the tool is, with a number if that is taken. Of a tool that is
        given by its FQN alone nothing is checked. Raises `ValidationError`: `port_unknown`,
        `port_missing`, `value_mismatches`, …; `UsageError`: `tool_expected`, `name_in_use`, and
        where a value cannot go.
        """
        with authors_line() as line:
            known = self._known(tool)
            fed = {**_named_ports(ports, known), **more_ports}
            _check_name_is_meant(known, fed, name)
            named = self._name(name, known.fqn.name)
            draft = Draft(named, known.fqn, known.kind, known.ports, self._sketch.block, line)
            for port, given in fed.items():
                feed(self._sketch, draft, port, given, line)
            _check_nothing_is_missing(draft)
        self._sketch.drafts.append(draft)
        return Step(self._sketch, draft)

    def _known(self, tool: UsedTool) -> KnownTool:
        # The tool is kept, too: as long as it is there, nothing else has its id.
        if id(tool) not in self._tools:
            self._tools[id(tool)] = (tool, known_tool(tool))
        return self._tools[id(tool)][1]

    def _name(self, given: str, otherwise: str) -> str:
        taken = {draft.name for draft in self._sketch.drafts}
        if _is_said(given):
            _check_name(given, taken, "a step")
            return given
        numbered = (f"{otherwise}_{number}" for number in count(2))
        return next(name for name in chain((otherwise,), numbered) if name not in taken)

    @overload
    def for_each(self, items: Value, /, *, parallel: int | None = None) -> ForEach: ...

    @overload
    def for_each(
        self, items: Value, other: Value, /, *others: Value, parallel: int | None = None
    ) -> ForEachTogether: ...

    def for_each(
        self, items: Value, /, *others: Value, parallel: int | None = None
    ) -> ForEach | ForEachTogether:
        """The steps in the `with` block run once for each element of a list: it gives the element.

        Several lists are walked together, as in `for_each(names, ages) as (name, age)`: what needs
        elements of both runs as often as the shorter list has some. Of a step that begins with an
        element `parallel` runs are under way at once (32). The steps wait until all is there that
        any of them takes from outside. Raises `UsageError`: `list_out_of_place`,
        `parallel_invalid`; `ValidationError`: `not_a_list`.
        """
        if others:
            return ForEachTogether(self._sketch, (items, *others), parallel)
        return ForEach(self._sketch, (items,), parallel)

    def collect(self, value: Value) -> Value:
        """The list of what a value was in each iteration of a `for_each` that has ended, in order.

        An iteration that did not give it is left out. Raises `UsageError` with code
        `collect_invalid`.
        """
        with authors_line():
            given = as_origin(self._sketch, value)
            block = given.block
            _check_is_not_in_rounds(given, self._sketch.block)
            if (
                not isinstance(given, PortValue | First)
                or block.kind is not BlockKind.FOR_EACH
                or block.parent is not self._sketch.block
            ):
                raise UsageError(
                    "collect_invalid",
                    f"{given} is not what a step gave in a for_each that ended in this block",
                    hint="collect behind the `with` block of the for_each, at the same depth",
                )
            shape = Shape.list_of(given.shape)
            return Value(Collected(self._sketch, block.parent, shape, given))

    def loop(self, /, **state: Any) -> Loop:
        """The steps in the `with` block run in rounds: `state` is what the first one begins with.

        `with flow.loop(text=draft.ok.text) as loop:` has `loop.text`, and `loop.again(text=…)` says
        in which case and with what another round begins. Raises `UsageError`:
        `loop_without_again` at the end of the block, and what feeding a port does.
        """
        return Loop(self._sketch, state)

    def first(self, *values: Value) -> Value:
        """The one of several values that arrives: of alternative variants, or of what follows them.

        Raises `UsageError` with code `alternatives_invalid`.
        """
        with authors_line():
            given = [as_origin(self._sketch, value) for value in values]
            return Value(first_of(self._sketch, given))

    def output(self, name: str, value: Value) -> None:
        """A part of the result, by name: what a step gave, perhaps in the last round of a loop.

        Of what is collected there is one part for each iteration, in order. Raises `UsageError`:
        `name_in_use`, `output_expected`, `output_named_already`, `block_open`, and where a value
        cannot go.
        """
        with authors_line() as line:
            self._check_blocks_have_ended()
            _check_name(name, self._sketch.outputs, "an output")
            given = as_origin(self._sketch, value)
            self._check_output(given)
        self._sketch.outputs[name] = Feed(given, line)

    def _check_output(self, given: Origin) -> None:
        sources = [way.source for way in ways(given, self._sketch.root)]
        ports = {source.output for source in sources if isinstance(source, PortValue)}
        if not all(isinstance(source, PortValue) for source in sources):
            raise UsageError(
                "output_expected",
                f"{given} is not what a step gives",
                hint="name a port of a variant of a step",
            )
        for name, other in self._sketch.outputs.items():
            named = (way.source for way in ways(other.value, self._sketch.root))
            if any(isinstance(source, PortValue) and source.output in ports for source in named):
                raise UsageError(
                    "output_named_already",
                    f"{given} is the output {name!r}, or a part of it",
                    hint="use that one",
                )

    def on_failure(self, action: OnFailure) -> None:
        """What a failure does that nobody takes up, where its step does not say: `terminate`."""
        self._sketch.post_failure_action = failure_action(action)

    @property
    def tools(self) -> dict[str, ToolPorts]:
        """The ports of the tools that it uses, by FQN, as far as they are known."""
        known = (tool for _, tool in self._tools.values())
        return {str(tool.fqn): tool.ports for tool in known if tool.ports is not None}

    def check(self, *, strict: bool = False) -> list[Located]:
        """The linter's warnings, each with its line.

        Raises `ValidationError` with code `workflow_invalid` for its errors, `strict` for warnings,
        too: `details["violations"]` has all that was found, each with its `file` and `line`.
        """
        return self._checked(strict=strict)[1]

    def located(self, violations: Iterable[Violation]) -> list[Located]:
        """What somebody found wrong with the document, each with the line behind it."""
        result, beginning = assembled(self._sketch), self._sketch.root.line
        return [
            Located(violation, result.line_of(violation.pointer) or beginning)
            for violation in violations
        ]

    def document(self) -> Document:
        """The document. Raises as `check` does, and `UsageError` for what is left unsaid."""
        return self._checked(strict=False)[0]

    def _check_blocks_have_ended(self) -> None:
        if self._sketch.block is not self._sketch.root:
            raise UsageError(
                "block_open",
                f"{self._sketch.block} has not ended",
                hint="write this behind all `with` blocks",
            )

    def _checked(self, *, strict: bool) -> tuple[Document, list[Located]]:
        with authors_line():
            self._check_blocks_have_ended()
        result = assembled(self._sketch)
        # What is unused is missing nowhere: all else can be told, too.
        is_whole = all(error.code == VALUE_UNUSED for error, _ in result.errors)
        found = self.located(lint(result.document, strict=strict)) if is_whole else []
        found.sort(key=lambda each: not each.violation.is_error)
        if result.errors:
            raise _refusal(result.errors, found)
        if found and found[0].violation.is_error:
            raise _error_of(found)
        return result.document, found


def _refusal(errors: list[tuple[UsageError, Line]], found: list[Located]) -> UsageError:
    """The first error, with all of them and what else was found in its details."""
    first, line = errors[0]
    told = [Located(Violation(error.code, str(error), ""), line) for error, line in errors]
    first.details["violations"] = [each.as_json() for each in (*told, *found)]
    return line.of(first)


def _error_of(found: list[Located]) -> ValidationError:
    """One error for all, with the line of each; the message has that of the first."""
    error = violations_error([each.violation for each in found])
    for told, each in zip(error.details["violations"], found, strict=False):
        told.update(each.as_json())
    return found[0].line.of(error)


def _named_ports(ports: object, tool: KnownTool) -> Mapping[str, Any]:
    """The ports that are given as a mapping: a value has no place but by the name of its port."""
    if ports is None or isinstance(ports, Mapping):
        return ports or {}
    first = next(iter(tool.ports.inputs.named), "port") if tool.ports else "port"
    raise UsageError(
        "port_unnamed",
        f"{ports!r} is given to no port of {tool.fqn}",
        hint=f"name the port: flow.add({tool.fqn.name}, {first}=…)",
    )


def _check_is_not_in_rounds(given: Origin, outside: Block) -> None:
    """A value of a loop is there in each round: what is collected is behind the loop."""
    around = given.block.chain[outside.depth :]
    is_deeper = given.block.is_in(outside) and len(around) > 1
    if is_deeper and around[0].kind is BlockKind.FOR_EACH:
        inner = around[1]
        raise UsageError(
            "collect_invalid",
            f"{given} is inside of {inner} as well, and collect leaves one block",
            hint="in the for_each, behind that block, have a step take the value, and collect what"
            " the step gives",
        )


def _is_said(name: object) -> bool:
    """Whether there is a name, if only a wrong one: a value has no truth."""
    return not isinstance(name, str) or bool(name)


def _check_name(name: object, taken: Container[str], what: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            "name_invalid",
            f"{name!r} is no name of {what}",
            hint="a name is a letter, then letters, digits, - and _",
        )
    if name in taken:
        raise UsageError(
            "name_in_use", f"{name!r} names {what} already", hint="give each a name of its own"
        )


def _check_name_is_meant(tool: KnownTool, fed: Mapping[str, Any], name: str) -> None:
    """A tool may have a port that is called as the name of a step is."""
    if _is_said(name) and tool.ports and tool.ports.inputs.get("name") and "name" not in fed:
        raise UsageError(
            "name_unclear",
            f"the tool {tool.fqn} has a port that is called name, too",
            hint='feed it by the mapping: flow.add(tool, {"name": value}, name="greeter")',
        )


def _check_nothing_is_missing(draft: Draft) -> None:
    required = draft.ports.inputs.required if draft.ports else ()
    missing = [port for port in required if port not in draft.feeds]
    if missing:
        raise ValidationError(
            "port_missing",
            f"the tool {draft.fqn} needs a value for {', '.join(missing)}",
            hint="give it a constant, an input, or a port of another step",
        )
