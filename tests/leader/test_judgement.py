import json

import pytest

from nexus_tools.http.guarded_client import Response
from nexus_tools.leader.dispatch.response_classifier import (
    MAX_OUTCOME_BYTES,
    Retryable,
    classify_response,
    failure,
)
from nexus_tools.tool import (
    MAX_PORTS,
    Answer,
    Failure,
    FailureReason,
    InterfaceValidator,
    outcome_bytes,
)

PORTS = {"type": "object", "additionalProperties": True}


class Anything:
    """A tool whose outcome is any object of ports."""

    input_schema = {"type": "object"}  # noqa: RUF012 - a schema of a test
    output_schema = {  # noqa: RUF012 - as above
        "type": "object",
        "oneOf": [{"type": "object", "properties": {"ok": PORTS}, "required": ["ok"]}],
    }


VALIDATOR = InterfaceValidator(Anything)


def judged(ports, max_outcome_bytes=10**9):
    response = Response(200, "", json.dumps({"ok": ports}).encode())
    return classify_response(response, VALIDATOR, outcome_bytes, max_outcome_bytes)


def test_answer_size_is_the_size_on_chain():
    # "ok", then BCS: 1 entry, name of 1 + 1 bytes, variant Inline, JSON text of 1 + 1 bytes.
    assert judged({"a": 5}, 2 + 1 + 2 + 1 + 2) == Answer("ok", {"a": 5})
    assert judged({"a": 5}, 2 + 1 + 2 + 1 + 2 - 1).reason is FailureReason.OUTPUT_TOO_LARGE


@pytest.mark.parametrize(
    "ports",
    [
        {f"port_{n}": n for n in range(MAX_PORTS + 1)},
        {"text": "x" * MAX_OUTCOME_BYTES},
    ],
)
def test_answer_beyond_the_transaction_limit_is_too_large(ports):
    assert judged(ports).reason is FailureReason.OUTPUT_TOO_LARGE


def test_answer_above_its_limit_names_the_required_limit():
    detail = "expected an answer of at most 7 bytes, got 8; use --max-outcome-bytes 8 or more"
    assert judged({"a": 5}, 7) == Failure(FailureReason.OUTPUT_TOO_LARGE, detail)
    none = judged({"text": "x" * MAX_OUTCOME_BYTES})
    assert none.detail.endswith(f"a transaction can hold at most {MAX_OUTCOME_BYTES}")


def test_gateway_timeout_is_not_attributed_to_the_tool():
    detail = "a gateway in front of the tool responded with 504"
    expected = Retryable(Failure(FailureReason.HTTP_ERROR, detail))
    assert classify_response(Response(504, "", b"<html>"), VALIDATOR, outcome_bytes, 9) == expected
    own = Response(504, "", b'{"code": "timed_out"}')
    detail = "the tool reached its own time limit: 504"
    expected = Failure(FailureReason.TIMED_OUT, detail)
    assert classify_response(own, VALIDATOR, outcome_bytes, 9) == expected


@pytest.mark.parametrize("name", ["é", "", "x" * 101])
def test_port_name_invalid_on_chain_is_output_invalid(name):
    assert judged({name: 1}).reason is FailureReason.OUTPUT_INVALID


def test_busy_tool_may_be_retried():
    response = Response(429, "7", b"")
    result = classify_response(response, VALIDATOR, outcome_bytes, 100)
    expected = Failure(FailureReason.HTTP_ERROR, "the tool responded with 429")
    assert result == Retryable(expected, retry_after="7", is_leader_specific=True)


def test_running_call_may_be_retried_before_retry_after():
    response = Response(409, "3600", b"")
    result = classify_response(response, VALIDATOR, outcome_bytes, 100)
    expected = Failure(FailureReason.TIMED_OUT, "the tool is still running the call: 409")
    assert result == Retryable(expected, is_running=True)


@pytest.mark.parametrize(
    ("text", "detail"),
    [("é" * 300, "é" * 100), ("a" + "é" * 300, "a" + "é" * 99), ("x" * 200, "x" * 200), ("", "")],
)
def test_detail_is_cut_between_characters_to_200_bytes(text, detail):
    assert failure(FailureReason.TIMED_OUT, text).detail == detail
