"""The validation of values against a tool's untrusted schemas, fast and without network access.

The library jsonschema-rs validates values under JSON Schema draft 2020-12, with `format` as an
annotation. A schema or a value is rejected if its validation could take more than `MAX_STEPS`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from nexus_tools.errors import ValidationError
from nexus_tools.tool.outcome import Answer
from nexus_tools.tool.schemas.mismatch import MAX_MISMATCHES, Mismatch, mismatch_error
from nexus_tools.tool.schemas.schema import CheckedSchema, check_input_schema, check_output_schema
from nexus_tools.tool.schemas.validation_cost import MAX_STEPS
from nexus_tools.tool.strict_json import json_pointer, measure

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as SchemaMismatch

# Describing failures costs far more than deciding whether a value is valid. So fewer failures are
# described if the validation of a value is expensive.
_STEPS_TO_DESCRIBE_ALL = 10_000
_STEPS_TO_DESCRIBE_ONE = 100_000

_OUTPUT = ("output_invalid", "the output does not match")


class HasSchemas(Protocol):
    """An object with a tool's two schemas, for example a definition."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of inputs."""

    @property
    def output_schema(self) -> dict[str, Any]:
        """The schema of outputs."""


class InterfaceValidator:
    """A tool's two compiled schemas. Validation has no side effects and is thread-safe."""

    def __init__(self, interface: HasSchemas) -> None:
        self._output = OutputValidator(interface.output_schema)
        self._input = _Gate(check_input_schema(interface.input_schema))
        self.check_output = self._output.check
        """The method `OutputValidator.check`. Binding it here saves a call on the hot path."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants, in the order of the schema."""
        return self._output.variants

    def check_input(self, value: Any, json_bytes: int | None = None) -> None:
        """Raise `ValidationError` (`input_invalid`) unless `value` is an input of the tool.

        `details["failures"]` lists `{pointer, message, rule}` of each problem. `pointer` is the
        location in the value, and `rule` is the location of the violated keyword in the schema.
        `json_bytes` is the size of the text from which `parse_json` read the value. If any value of
        `json_bytes` bytes is within the cost limit, the value is not measured.
        """
        self._input.check(value, "input_invalid", "the input does not match", json_bytes)


class OutputValidator:
    """A tool's compiled output schema. The object is thread-safe."""

    def __init__(self, output_schema: object) -> None:
        schema = check_output_schema(output_schema)
        self._gate = _Gate(schema)
        self.variants = tuple(schema.variants)

    def check(self, value: Any, json_bytes: int | None = None) -> Answer:
        """Return the answer in a value `{variant: {port: value}}`, or raise `output_invalid`.

        For `json_bytes`, see `InterfaceValidator.check_input`.
        """
        if not isinstance(value, dict) or len(value) != 1:
            message = "expected an object with exactly one member, the variant"
            raise mismatch_error(*_OUTPUT, [Mismatch("", message, "/oneOf")])
        [(variant, ports)] = value.items()
        self.check_variant(variant)
        self._gate.check(value, *_OUTPUT, json_bytes)
        return Answer(variant, ports)

    def check_variant(self, variant: Any) -> None:
        """Raise `ValidationError` (`output_invalid`) unless the tool has a variant of this name."""
        if variant not in self.variants:
            known = ", ".join(self.variants)
            message = (
                f"{str(variant)[:80]!r} is not a variant of the tool. Its variants are {known}"
            )
            raise mismatch_error(*_OUTPUT, [Mismatch("", message, "/oneOf")])


class _Gate:
    """The validator of one schema."""

    __slots__ = ("_cost", "_free_bytes", "_validator")

    def __init__(self, schema: CheckedSchema) -> None:
        self._cost = schema.cost
        self._validator = schema.validator
        self._free_bytes = self._cost.free_bytes

    def check(self, value: Any, code: str, what: str, json_bytes: int | None = None) -> None:
        is_free = json_bytes is not None and json_bytes <= self._free_bytes
        if is_free and self._validator.is_valid(value):
            return
        try:
            extent = measure(value)
        except ValidationError as error:
            raise mismatch_error(code, what, [Mismatch("", error.message)]) from error
        steps = self._cost.count(value, extent)
        if steps > MAX_STEPS:
            message = (
                "validation could take too long, because the value is too large or too deep for"
                " this schema"
            )
            raise mismatch_error(code, what, [Mismatch("", message)])
        if not self._validator.is_valid(value):
            raise mismatch_error(code, what, self._described(value, steps))

    def _described(self, value: Any, steps: int) -> list[Mismatch]:
        if steps > _STEPS_TO_DESCRIBE_ONE:
            return [Mismatch("", "the value is not valid under the schema")]
        if steps > _STEPS_TO_DESCRIBE_ALL:
            return list(_in_words(self._first_error(value)))
        errors = self._validator.iter_errors(value)
        return list(
            islice((words for error in errors for words in _in_words(error)), MAX_MISMATCHES)
        )

    def _first_error(self, value: Any) -> "SchemaMismatch":
        from jsonschema_rs import ValidationError as SchemaMismatch  # noqa: PLC0415 - as above

        try:
            self._validator.validate(value)
        except SchemaMismatch as error:
            return error
        raise AssertionError("jsonschema-rs rejected the value before, but accepts it now")


def _in_words(error: "SchemaMismatch") -> Iterator[Mismatch]:
    """Yield an error. If no alternative matches, yield the errors of the closest alternative."""
    branches = [branch for branch in getattr(error.kind, "context", []) if branch]
    if not branches:
        place, rule = json_pointer(error.instance_path), json_pointer(error.schema_path)
        yield Mismatch(place, error.message, rule)
        return
    for inner in max(branches, key=lambda branch: len(branch[0].instance_path)):
        yield from _in_words(inner)
