"""The interface of a tool, prepared once: its form, its validator, its example and its outputs."""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.explorer.forms.controls import Control, input_controls, whole_input
from nexus_tools.explorer.forms.texts import TextBudget
from nexus_tools.explorer.forms.values import inputs_of, texts_of
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.support.untrusted_text import is_displayable
from nexus_tools.tool import (
    MAX_PORTS,
    InterfaceValidator,
    SchemaDocument,
    ToolDefinition,
    example_input,
    is_error_variant,
    port_type,
    variants,
)

_log = get_logger("nexus_tools.explorer")

_MAX_VARIANTS = 12
_MAX_TYPE = 60
_MAX_EXAMPLES = 5
_MAX_EXAMPLE = 2_000
"""The maximum length of the JSON of an example."""


class Port(Struct, frozen=True):
    """A port of an output variant. Its texts are untrusted."""

    name: str
    type: str
    title: str
    description: str
    is_required: bool


class OutputVariant(Struct, frozen=True):
    """An output variant with its ports. An error variant is a failure in the tool's domain."""

    name: str
    is_error: bool
    description: str
    ports: tuple[Port, ...]


class FilledForm(Struct, frozen=True):
    """The state of a form: its texts, its inputs, and problems by the name of a control.

    The key of a problem with no control is an empty text.
    """

    texts: Mapping[str, str]
    inputs: dict[str, Any]
    problems: Mapping[str, str]


class ToolInterface:
    """The interface of a tool.

    `problem` is the reason why the definition is invalid, or an empty text. The form of an invalid
    definition has one control for all inputs. `examples` are the texts of the author's examples.
    """

    def __init__(self, definition: Definition) -> None:
        self.problem = ""
        self.controls: tuple[Control, ...] = (whole_input(),)
        self.outputs: tuple[OutputVariant, ...] = ()
        self.examples: tuple[Mapping[str, str], ...] = ()
        self.document: ToolDefinition | None = None
        self._validator: InterfaceValidator | None = None
        self._example: dict[str, Any] = {}
        try:
            self._prepare(definition)
        except NexusError as error:
            self.problem = error.message
        except Exception as error:  # noqa: BLE001 - untrusted documents may cause any exception
            _log.warning("definition_skipped", fqn=definition.fqn[:200], cause=error_summary(error))
            self.problem = "the definition cannot be read"

    def _prepare(self, definition: Definition) -> None:
        parsed = definition.parse(check_schemas=False)
        self.document = parsed
        budget = TextBudget()
        found = variants(parsed.output_schema)
        self.outputs = tuple(
            _variant(name, found[name], budget) for name in islice(found, _MAX_VARIANTS)
        )
        self.controls = input_controls(SchemaDocument.parse(parsed.input_schema), budget)
        self._validator = InterfaceValidator(parsed)
        self._example = _example(parsed.input_schema)
        listed = parsed.input_schema.get("examples", [])
        self.examples = tuple(
            texts_of(self.controls, example)
            for example in islice(listed, _MAX_EXAMPLES)
            if isinstance(example, dict) and _is_usable(example)
        )

    def filled(self, submitted: Mapping[str, str] | None) -> FilledForm:
        """Return the form with submitted texts, or else with an example."""
        texts = texts_of(self.controls, self._example) if submitted is None else submitted
        if submitted is None:
            return FilledForm(texts, self._example, {})
        read = inputs_of(self.controls, submitted)
        mismatches = self._mismatches(read.inputs)
        if read.problems:  # The other inputs are incomplete, so the empty name would mislead.
            mismatches.pop("", None)
        return FilledForm(texts, read.inputs, mismatches | dict(read.problems))

    def _mismatches(self, inputs: dict[str, Any]) -> dict[str, str]:
        """Return the messages of the schema by the name of the control."""
        if self._validator is None:
            return {}
        try:
            self._validator.check_input(inputs)
        except ValidationError as error:
            names = {control.pointer: control.name for control in _flat(self.controls)}
            problems: dict[str, str] = {}
            for failure in error.details.get("failures", ()):
                name = _nearest(names, failure["pointer"])
                message = failure["message"] if name else _with_place(failure)
                problems.setdefault(name, message)
            return problems
        return {}


def _example(input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example of the inputs, or an empty object.

    A large example is omitted, and one with invisible characters, because controls show exact
    values.
    """
    try:
        example = example_input(input_schema)
    except ValidationError:
        return {}
    return example if _is_usable(example) else {}


def _is_usable(example: Any) -> bool:
    return len(json.dumps(example)) <= _MAX_EXAMPLE and _is_displayable(example)


def _is_displayable(value: Any) -> bool:
    """Return whether all texts in a JSON value consist of visible characters and line breaks."""
    if isinstance(value, str):
        return is_displayable(value.replace("\n", ""))
    if isinstance(value, Mapping):
        return all(_is_displayable(name) and _is_displayable(v) for name, v in value.items())
    return not isinstance(value, list) or all(map(_is_displayable, value))


def _flat(controls: tuple[Control, ...]) -> list[Control]:
    return [item for control in controls for item in (control, *_flat(control.controls))]


def _nearest(names: Mapping[str, str], pointer: str) -> str:
    """Return the name of the control that contains the value at a pointer, or an empty text."""
    while pointer:
        if pointer in names:
            return names[pointer]
        pointer = pointer.rpartition("/")[0]
    return names.get("", "")


def _with_place(failure: Mapping[str, str]) -> str:
    return f"{failure['pointer'] or 'The inputs'}: {failure['message']}"


def _variant(name: str, schema: Mapping[str, Any], budget: TextBudget) -> OutputVariant:
    required = schema.get("required", ())
    ports = tuple(
        Port(
            budget.take(port),
            budget.take(port_type(port_schema), _MAX_TYPE),
            _text(port_schema, "title", budget),
            _text(port_schema, "description", budget),
            port in required,
        )
        for port, port_schema in islice(schema.get("properties", {}).items(), MAX_PORTS)
    )
    text = _text(schema, "description", budget)
    return OutputVariant(budget.take(name), is_error_variant(name), text, ports)


def _text(schema: Any, keyword: str, budget: TextBudget) -> str:
    return budget.take(schema.get(keyword)) if isinstance(schema, Mapping) else ""
