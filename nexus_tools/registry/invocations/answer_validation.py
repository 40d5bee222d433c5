"""Validation of settled answers against the output schemas of their tools.

All code that returns outcomes to requesters uses this module. The schemas of a registered tool
never change, so the on-chain schemas are still the schemas at the time of the request.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, OutputValidator, parse_json


class OutputInvalidError(ValidationError):
    """The error for an answer that violates the tool's output schema.

    `answer` is the answer that the leader settled, and `invocation` is the ID of its invocation.
    """

    def __init__(self, invocation: Invocation, answer: Answer, problem: ValidationError) -> None:
        self.invocation = invocation.id
        self.answer = answer
        invocation_id = str(invocation.id)
        subject = f"the answer {answer.variant[:80]!r} of {invocation.fqn}"
        verdict = "violates the tool's output schema"
        if problem.code == "schema_invalid":
            verdict = "cannot be validated"
        super().__init__(
            "output_invalid",
            f"{subject} {verdict}: {problem.message}",
            hint="Do not use the answer."
            f" Run `nexus-tools tool outcome {invocation_id}` to see it.",
            details={
                "invocation": invocation_id,
                "variant": answer.variant,
                "schema": "output",
                **problem.details,
            },
        )


async def validate_answers(
    package: PackageClient, invocations: Iterable[Invocation]
) -> Mapping[Address, OutputInvalidError]:
    """Return an error for each settled invocation whose answer violates its tool's output schema.

    If an answer has a value that is stored off chain, only the variant of the answer is checked.
    """
    settled = [
        invocation for invocation in invocations if isinstance(invocation.state, State.Settled)
    ]
    ids = [*dict.fromkeys(invocation.tool for invocation in settled)]
    tools = dict(zip(ids, await package.find_all(ids, Tool), strict=True))
    errors = {}
    for invocation in settled:
        tool = tools[invocation.tool]
        error = None if tool is None else _error_of(invocation, tool)
        if error is not None:
            errors[invocation.id] = error
    return errors


def _error_of(invocation: Invocation, tool: Tool) -> OutputInvalidError | None:
    assert isinstance(invocation.state, State.Settled)
    variant, ports = invocation.state.variant, invocation.state.ports
    answer = Answer(variant, {})
    try:
        answer = Answer(variant, ports.with_locations())
        validator = _validator(tool.definition.output_schema)
        if any(ports.remote()):
            validator.check_variant(variant)
        else:
            validator.check(answer.as_json())
    except ValidationError as problem:
        return OutputInvalidError(invocation, answer, problem)
    return None


@lru_cache(maxsize=256)
def _validator(output_schema: bytes) -> OutputValidator:
    """Return the validator of a schema. Cache it, because compilation is slower than validation."""
    return OutputValidator(parse_json(output_schema))
