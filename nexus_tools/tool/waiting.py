"""The two waiting tools of the Move package: `ask` waits for a person, `wait` for a time."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.tool.definition import ToolDefinition

ASK = "nexus_tools.waiting.ask@1"
WAIT = "nexus_tools.waiting.wait@1"

_DAY_MS = 24 * 60 * 60 * 1000
WAITING_MARGIN_MS = _DAY_MS
"""The time between the end of the wait and the expiry of the invocation, in ms.

The constant `MARGIN_MS` of the Move module `waiting` has the same value.
"""

_TIMEOUT_MS = 90 * _DAY_MS
_GAS_MIST = 2_000_000

_TIME = {"type": "integer", "minimum": 0}
_ADDRESS = {"type": "string", "pattern": "^0x[0-9a-fA-F]{1,64}$"}
_ADDRESS_PATTERNS = (_ADDRESS["pattern"], "^0x[0-9a-fA-F]{64}$", "^0x[0-9a-f]{64}$")
_AT = {"at_ms": {**_TIME, "description": "The closing time of the invocation, in ms since 1970."}}
_ANSWER = {"answerer": {**_ADDRESS}, "note": {"type": "string"}}


def is_address_port(schema: Mapping[str, Any]) -> bool:
    """Return whether the schema of a port has the pattern of addresses."""
    return schema.get("pattern") in _ADDRESS_PATTERNS


def ask_definition(package: str) -> ToolDefinition:
    """Return the definition of `ask`, which ends when an address answers or the time is over.

    `package` is the ID of the Move package of nexus_tools, as `0x` and 64 digits.
    """
    inputs = {
        "answerer": {**_ADDRESS, "description": "The address whose answer counts."},
        "question": {"type": "string", "description": "The question."},
        "timeout_ms": {
            **_TIME,
            "description": "The maximum time to wait for the answer, in ms. Maximum and default:"
            " 89 days.",
        },
    }
    variants: dict[str, dict[str, Any]] = {"approved": _ANSWER, "rejected": _ANSWER, "expired": _AT}
    return _definition(
        ASK,
        f"{package}::waiting::expire",
        f"{package}::waiting::Ask",
        description="Asks an address to approve or reject.",
        inputs=_object(inputs, ["answerer", "question"]),
        variants=variants,
    )


def wait_definition(package: str) -> ToolDefinition:
    """Return the definition of `wait`, which ends at a time or after a duration.

    `package` is the ID of the Move package of nexus_tools, as `0x` and 64 digits.
    """
    inputs = {
        "until_ms": {**_TIME, "description": "The end of the wait, in ms since 1970."},
        "duration_ms": {**_TIME, "description": "The time to wait, in ms. Maximum: 89 days."},
    }
    either = {"oneOf": [{"required": ["until_ms"]}, {"required": ["duration_ms"]}]}
    return _definition(
        WAIT,
        f"{package}::waiting::finish_wait",
        f"{package}::waiting::Wait",
        description="Waits until a given time, or for a given duration.",
        inputs=_object(inputs, []) | either,
        variants={"over": _AT},
    )


def ask_deadline_ms(inputs: Mapping[str, Any], requested_at_ms: int, expires_at_ms: int) -> int:
    """Return the time until which `ask` accepts an answer, as the Move module `waiting` does.

    All times are in ms since 1970.
    """
    latest_ms = expires_at_ms - WAITING_MARGIN_MS
    timeout_ms = int(inputs.get("timeout_ms", latest_ms - requested_at_ms))
    return min(requested_at_ms + timeout_ms, latest_ms)


def wait_deadline_ms(inputs: Mapping[str, Any], requested_at_ms: int, expires_at_ms: int) -> int:
    """Return the time when a `wait` is over. All times are in ms since 1970."""
    until_ms = int(inputs.get("until_ms", requested_at_ms + int(inputs.get("duration_ms", 0))))
    return min(until_ms, expires_at_ms - WAITING_MARGIN_MS)


def _definition(
    fqn: str,
    function: str,
    witness: str,
    *,
    description: str,
    inputs: dict[str, Any],
    variants: dict[str, dict[str, Any]],
) -> ToolDefinition:
    outputs = [
        _object({name: _object(ports, list(ports))}, [name]) for name, ports in variants.items()
    ]
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "type": "onchain",
            "url": function,
            "description": description,
            "timeout": _TIMEOUT_MS,
            "input_schema": inputs,
            "output_schema": {"oneOf": outputs},
            "function": {
                "witness": witness,
                "objects": ["0x6"],
                "gas": _GAS_MIST,
                "closed_by": "anyone",
            },
        }
    )


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
