"""Answers checked against the output schemas of their tools, wherever a requester gets one.

The schemas of a registered tool never change, so those on chain are those of the request.
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
    """An answer that the tool's output schema does not allow.

    `answer` is what the leader settled, and `invocation` where it stands on chain.
    """

    def __init__(self, invocation: Invocation, answer: Answer, problem: ValidationError) -> None:
        self.invocation = invocation.id
        self.answer = answer
        place = str(invocation.id)
        what = f"the answer {answer.variant[:80]!r} of {invocation.fqn}"
        breach = "breaks the tool's output schema"
        if problem.code == "schema_invalid":
            breach = "cannot be checked"
        super().__init__(
            "output_invalid",
            f"{what} {breach}: {problem.message}",
            hint=f"Do not use the answer. `nexus-tools tool outcome {place}` shows it.",
            details={
                "invocation": place,
                "variant": answer.variant,
                "schema": "output",
                **problem.details,
            },
        )


async def invalid_answers(
    package: PackageClient, invocations: Iterable[Invocation]
) -> Mapping[Address, OutputInvalidError]:
    """Return an error for each settled invocation whose answer breaks its tool's output schema.

    A value that is not on chain is not checked: of an answer with such a value only the variant is.
    """
    settled = [each for each in invocations if isinstance(each.state, State.Settled)]
    ids = [*dict.fromkeys(each.tool for each in settled)]
    tools = dict(zip(ids, await package.find_all(ids, Tool), strict=True))
    found = {}
    for each in settled:
        tool = tools[each.tool]
        error = None if tool is None else _error_of(each, tool)
        if error is not None:
            found[each.id] = error
    return found


def _error_of(invocation: Invocation, tool: Tool) -> OutputInvalidError | None:
    assert isinstance(invocation.state, State.Settled)
    variant, ports = invocation.state.variant, invocation.state.ports
    answer = Answer(variant, {})
    try:
        answer = Answer(variant, ports.with_places())
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
    """The compiled schema: compiling one takes far longer than checking an answer."""
    return OutputValidator(parse_json(output_schema))
