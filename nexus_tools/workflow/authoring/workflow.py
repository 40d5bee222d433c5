"""The `Workflow` class, with which authors write a workflow in Python."""

import re
from collections.abc import Container, Iterable, Mapping
from itertools import chain, count
from typing import Any, overload

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, ToolFqn
from nexus_tools.workflow.authoring.assembly import VALUE_UNUSED, Located, assemble
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachZipped, Loop
from nexus_tools.workflow.authoring.connections import connections
from nexus_tools.workflow.authoring.input_binding import bind_input, to_origin
from nexus_tools.workflow.authoring.sketch import (
    Binding,
    Block,
    BlockKind,
    Collected,
    Draft,
    First,
    Origin,
    PortValue,
    Sketch,
    WorkflowInput,
    first_of,
)
from nexus_tools.workflow.authoring.source_line import Line, caller_line
from nexus_tools.workflow.authoring.steps import OnFailure, Step, failure_action
from nexus_tools.workflow.authoring.used_tool import ResolvedTool, UsedTool, resolve_tool
from nexus_tools.workflow.authoring.value import Value
from nexus_tools.workflow.document.document import Document
from nexus_tools.workflow.document.violation import Violation, violations_error
from nexus_tools.workflow.interfaces import JsonTypes, ToolPorts, json_types_of
from nexus_tools.workflow.linter import lint

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)


class Workflow:
    """A workflow that is being written: steps, and the values that connect them.

    `fqn` and `description` obey the same rules as for tools. Each error is raised at the line that
    causes it, and has `file` and `line` in its details. Raises `ValidationError` with code
    `fqn_invalid` or `description_too_long`.
    """

    def __init__(self, fqn: str | ToolFqn, description: str = "") -> None:
        with caller_line() as line:
            self.fqn = fqn if isinstance(fqn, ToolFqn) else ToolFqn.parse(fqn)
            if len(description.encode()) > MAX_DESCRIPTION_BYTES:
                raise ValidationError(
                    "description_too_long",
                    f"the description must have at most {MAX_DESCRIPTION_BYTES} bytes",
                    hint="Move details to the documentation of the workflow.",
                )
        self.description = description
        self._sketch = Sketch(Block(BlockKind.WORKFLOW, line))
        self._tools: dict[int, tuple[UsedTool, ResolvedTool]] = {}

    def inputs(self, /, **types: Any) -> tuple[Value, ...]:
        """Declare the inputs of an execution, and return their values in the order of the types.

        A type is a JSON schema, or a type for which pydantic creates a schema (`str`, `list[int]`,
        a model). A class with a `parse` method, such as `Address`, is also a type, whose JSON is a
        string. Unpack a single input with `[topic] = flow.inputs(topic=str)`.

        Raises:
            UsageError: With code `name_in_use` or `input_type_unknown`.
            ValidationError: With code `schema_invalid`.
        """
        with caller_line() as line:
            return tuple(self._input(name, kind, line) for name, kind in types.items())

    def _input(self, name: str, kind: Any, line: Line) -> Value:
        _check_name(name, self._sketch.inputs, "an input")
        given = WorkflowInput(self._sketch, self._sketch.root, json_types_of(kind), name)
        self._sketch.inputs[name] = Binding(given, line)
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
        """Add a step that uses a tool, with a value for each port.

        A value is a port of another step, an input, or a constant. The step belongs to the `with`
            block in which you add it. If a port is called `name` or like a Python keyword, pass it
            in a mapping: `flow.add(send, {"from": me}, to=you)`. The step is called `name`, by
            default like its tool, with a number if the name is taken. If you pass only the FQN of a
            tool, its ports are not checked.

        Raises:
            ValidationError: With code `port_unknown`, `port_missing`, `value_mismatches`, ….
            UsageError: With code `tool_expected` or `name_in_use`, or because a value cannot be
                used here.
        """
        with caller_line() as line:
            known = self._known(tool)
            fed = {**_named_ports(ports, known), **more_ports}
            _check_name_is_meant(known, fed, name)
            named = self._name(name, known.fqn.name)
            draft = Draft(named, known.fqn, known.kind, known.ports, self._sketch.block, line)
            for port, given in fed.items():
                bind_input(self._sketch, draft, port, given, line)
            _check_nothing_is_missing(draft)
        self._sketch.drafts.append(draft)
        return Step(self._sketch, draft)

    def _known(self, tool: UsedTool) -> ResolvedTool:
        # Keep a reference to the tool, so that no other object gets its `id`.
        if id(tool) not in self._tools:
            self._tools[id(tool)] = (tool, resolve_tool(tool))
        return self._tools[id(tool)][1]

    def _name(self, given: str, otherwise: str) -> str:
        taken = {draft.name for draft in self._sketch.drafts}
        if _is_set(given):
            _check_name(given, taken, "a step")
            return given
        numbered = (f"{otherwise}_{number}" for number in count(2))
        return next(name for name in chain((otherwise,), numbered) if name not in taken)

    @overload
    def for_each(self, items: Value, /, *, parallel: int | None = None) -> ForEach: ...

    @overload
    def for_each(
        self, items: Value, other: Value, /, *others: Value, parallel: int | None = None
    ) -> ForEachZipped: ...

    def for_each(
        self, items: Value, /, *others: Value, parallel: int | None = None
    ) -> ForEach | ForEachZipped:
        """Run the steps in the `with` block once for each element of a list.

        The `with` statement returns a placeholder for the element. Several lists are iterated
        together up to the end of the shortest list, as in `for_each(names, ages) as (name, age)`.
        At most `parallel` runs (default: 32) of a step that takes an element are in flight at once.
        The iterations start when all values exist that their steps take from outside the block.

        Raises:
            UsageError: With code `list_from_other_block` or `parallel_invalid`.
            ValidationError: With code `not_a_list`.
        """
        if others:
            return ForEachZipped(self._sketch, (items, *others), parallel)
        return ForEach(self._sketch, (items,), parallel)

    def collect(self, value: Value) -> Value:
        """Return a list with the value from each iteration of an ended `for_each`, in order.

        Iterations without the value are omitted. Raises `UsageError` with code `collect_invalid`.
        """
        with caller_line():
            given = to_origin(self._sketch, value)
            block = given.block
            _check_is_not_in_rounds(given, self._sketch.block)
            if (
                not isinstance(given, PortValue | First)
                or block.kind is not BlockKind.FOR_EACH
                or block.parent is not self._sketch.block
            ):
                raise UsageError(
                    "collect_invalid",
                    f"{given} is not a value of a for_each that ended in this block",
                    hint="Call collect after the `with` block of the for_each, at the same depth.",
                )
            shape = JsonTypes.list_of(given.shape)
            return Value(Collected(self._sketch, block.parent, shape, given))

    def loop(self, /, **state: Any) -> Loop:
        """Run the steps in the `with` block in rounds. `state` has the values of the first round.

        In `with flow.loop(text=draft.ok.text) as loop:`, the value of the round is `loop.text`.
        `loop.again(text=…)` declares when another round starts, and with which values. Raises the
        errors of a port value, and `UsageError` (`loop_without_again`) at the end of the block.
        """
        return Loop(self._sketch, state)

    def first(self, *values: Value) -> Value:
        """Return the first value to arrive from alternative variants or from their successors.

        Raises `UsageError` with code `alternatives_invalid`.
        """
        with caller_line():
            given = [to_origin(self._sketch, value) for value in values]
            return Value(first_of(self._sketch, given))

    def output(self, name: str, value: Value) -> None:
        """Declare the value of a step as a named result of the execution.

        In a loop, the value is from the last round. A collected value has one result for each
        iteration, in order. Raises `UsageError` (`name_in_use`, `output_expected`,
        `output_named_already`, `block_open`), or the errors of `connections`.
        """
        with caller_line() as line:
            self._check_blocks_have_ended()
            _check_name(name, self._sketch.outputs, "an output")
            given = to_origin(self._sketch, value)
            self._check_output(given)
        self._sketch.outputs[name] = Binding(given, line)

    def _check_output(self, given: Origin) -> None:
        sources = [way.source for way in connections(given, self._sketch.root)]
        ports = {source.output for source in sources if isinstance(source, PortValue)}
        if not all(isinstance(source, PortValue) for source in sources):
            raise UsageError(
                "output_expected",
                f"{given} is not a value of a step",
                hint="Name a port of a variant of a step.",
            )
        for name, other in self._sketch.outputs.items():
            named = (way.source for way in connections(other.value, self._sketch.root))
            if any(isinstance(source, PortValue) and source.output in ports for source in named):
                raise UsageError(
                    "output_named_already",
                    f"{given} is already the output {name!r}, or a part of it",
                    hint="Use the existing output.",
                )

    def on_failure(self, action: OnFailure) -> None:
        """Set the effect of unhandled failures for steps without an action of their own.

        The default is `terminate`.
        """
        self._sketch.post_failure_action = failure_action(action)

    @property
    def tools(self) -> dict[str, ToolPorts]:
        """The known ports of the used tools, by FQN."""
        known = (tool for _, tool in self._tools.values())
        return {str(tool.fqn): tool.ports for tool in known if tool.ports is not None}

    def check(self, *, strict: bool = False) -> list[Located]:
        """Return the linter's warnings, each with the line that causes it.

        Raises `ValidationError` with code `workflow_invalid` if the linter reports an error, or
        with `strict` a warning. `details["violations"]` has all violations, each with its `file`
        and `line`.
        """
        return self._checked(strict=strict)[1]

    def located(self, violations: Iterable[Violation]) -> list[Located]:
        """Return the violations with the lines that cause them."""
        result, beginning = assemble(self._sketch), self._sketch.root.line
        return [
            Located(violation, result.line_of(violation.pointer) or beginning)
            for violation in violations
        ]

    def document(self) -> Document:
        """Return the document.

        Raises the errors of `check`, and `UsageError` for a missing part.
        """
        return self._checked(strict=False)[0]

    def _check_blocks_have_ended(self) -> None:
        if self._sketch.block is not self._sketch.root:
            raise UsageError(
                "block_open",
                f"{self._sketch.block} has not ended",
                hint="Call this method after all `with` blocks.",
            )

    def _checked(self, *, strict: bool) -> tuple[Document, list[Located]]:
        with caller_line():
            self._check_blocks_have_ended()
        result = assemble(self._sketch)
        # If the only errors are unused values, the document is complete and the linter can run.
        is_whole = all(error.code == VALUE_UNUSED for error, _ in result.errors)
        found = self.located(lint(result.document, strict=strict)) if is_whole else []
        found.sort(key=lambda located: not located.violation.is_error)
        if result.errors:
            raise _refusal(result.errors, found)
        if found and found[0].violation.is_error:
            raise _error_of(found)
        return result.document, found


def _refusal(errors: list[tuple[UsageError, Line]], found: list[Located]) -> UsageError:
    """Return the first error, with all errors and violations in its details."""
    first, line = errors[0]
    told = [Located(Violation(error.code, str(error), ""), line) for error, line in errors]
    first.details["violations"] = [located.as_json() for located in (*told, *found)]
    return line.of(first)


def _error_of(found: list[Located]) -> ValidationError:
    """Return one error for all violations with their lines.

    The message of the error is that of the first violation.
    """
    error = violations_error([located.violation for located in found])
    for told, located in zip(error.details["violations"], found, strict=False):
        told.update(located.as_json())
    return found[0].line.of(error)


def _named_ports(ports: object, tool: ResolvedTool) -> Mapping[str, Any]:
    """Return the ports that were passed as a mapping. Reject a value without the name of a port."""
    if ports is None or isinstance(ports, Mapping):
        return ports or {}
    first = next(iter(tool.ports.inputs.named), "port") if tool.ports else "port"
    raise UsageError(
        "port_unnamed",
        f"{ports!r} is passed without the name of a port of {tool.fqn}",
        hint=f"Name the port: flow.add({tool.fqn.name}, {first}=…).",
    )


def _check_is_not_in_rounds(given: Origin, outside: Block) -> None:
    """Check that a collected value is not inside an inner block of the `for_each`."""
    around = given.block.chain[outside.depth :]
    is_deeper = given.block.is_in(outside) and len(around) > 1
    if is_deeper and around[0].kind is BlockKind.FOR_EACH:
        inner = around[1]
        raise UsageError(
            "collect_invalid",
            f"{given} is also inside {inner}, but collect leaves only one block",
            hint="In the for_each, after that block, add a step that takes the value, and collect"
            " its result.",
        )


def _is_set(name: object) -> bool:
    """Return whether a name was passed, without testing the truth value of a placeholder."""
    return not isinstance(name, str) or bool(name)


def _check_name(name: object, taken: Container[str], what: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            "name_invalid",
            f"{name!r} is not a valid name of {what}",
            hint="Start with a letter, then use letters, digits, - and _.",
        )
    if name in taken:
        raise UsageError(
            "name_in_use", f"{name!r} is already the name of {what}", hint="Choose a unique name."
        )


def _check_name_is_meant(tool: ResolvedTool, fed: Mapping[str, Any], name: str) -> None:
    """Check that `name` is not ambiguous, because a tool may have a port called `name`."""
    if _is_set(name) and tool.ports and tool.ports.inputs.get("name") and "name" not in fed:
        raise UsageError(
            "name_ambiguous",
            f"the tool {tool.fqn} also has a port named name",
            hint='Pass the port in a mapping: flow.add(tool, {"name": value}, name="greeter").',
        )


def _check_nothing_is_missing(draft: Draft) -> None:
    required = draft.ports.inputs.required if draft.ports else ()
    missing = [port for port in required if port not in draft.bindings]
    if missing:
        raise ValidationError(
            "port_missing",
            f"the tool {draft.fqn} needs a value for {', '.join(missing)}",
            hint="Pass a constant, an input, or a port of another step.",
        )
