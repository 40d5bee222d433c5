import json

import pytest

from nexus_tools.bridges.unstract.message import (
    Cost,
    Declaration,
    Icon,
    Log,
    LogLevel,
    MessageType,
    Result,
    SingleStepMessage,
    Update,
    parse_message,
)
from nexus_tools.errors import ValidationError

AT = "2024-01-01T00:00:00"


def read(**fields):
    return parse_message(json.dumps(fields).encode())


@pytest.mark.parametrize("kind", ["SPEC", "PROPERTIES", "VARIABLES"])
def test_document_may_be_an_object(kind):
    message = read(type=kind, **{kind.lower(): {"title": "T"}}, emitted_at=AT)
    assert message == Declaration(MessageType(kind), {"title": "T"})


@pytest.mark.parametrize("kind", ["SPEC", "PROPERTIES", "VARIABLES"])
def test_document_may_be_a_json_encoded_string(kind):
    message = read(type=kind, **{kind.lower(): '{"title": "T"}'})
    assert message == Declaration(MessageType(kind), {"title": "T"})


def test_icon_is_the_text_of_the_svg():
    assert read(type="ICON", icon="<svg/>", emitted_at=AT) == Icon("<svg/>")


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"])
def test_log_has_each_of_the_five_levels(level):
    message = read(type="LOG", level=level, log="hello", emitted_at=AT)
    assert message == Log(LogLevel(level), "hello", "", AT)


@pytest.mark.parametrize(
    ("written", "level"),
    [("WARNING", "WARN"), ("CRITICAL", "FATAL"), ("info", "INFO"), ("LOUD", "INFO")],
)
def test_unknown_level_is_read_as_the_nearest(written, level):
    assert read(type="LOG", level=written, log="x").level == LogLevel(level)


def test_sdk_log_has_a_stage():
    assert read(type="LOG", level="INFO", log="x", stage="TOOL_RUN").stage == "TOOL_RUN"


@pytest.mark.parametrize("cost", [0.25, "0.25"])
def test_cost_is_a_number_or_a_numeric_string(cost):
    assert read(type="COST", cost=cost, cost_units="USD", emitted_at=AT) == Cost(0.25, "USD", AT)


@pytest.mark.parametrize("cost", [None, True, "much", "inf", [1]])
def test_non_numeric_cost_is_refused(cost):
    with pytest.raises(ValidationError, match="cost must be a number"):
        read(type="COST", cost=cost, cost_units="USD")


def test_result_has_workflow_elapsed_time_and_output():
    result = {"workflow_id": "w", "elapsed_time": 1.5, "output": {"a": [1]}}
    message = read(type="RESULT", result=result, emitted_at=AT)
    assert message == Result({"a": [1]}, "w", 1.5, AT)


def test_elapsed_time_of_a_result_may_be_a_string_or_missing():
    assert read(type="RESULT", result={"elapsed_time": "2.5", "output": ""}).elapsed_s == 2.5
    assert read(type="RESULT", result={"output": ""}).elapsed_s is None


def test_result_may_be_a_json_encoded_string():
    assert read(type="RESULT", result='{"output": "text"}').output == "text"


@pytest.mark.parametrize("result", [None, [], "text", {"elapsed_time": 1}])
def test_result_without_an_output_is_refused(result):
    with pytest.raises(ValidationError):
        read(type="RESULT", result=result)


def test_single_step_message_is_a_text():
    message = read(type="SINGLE_STEP_MESSAGE", message="look", emitted_at=AT)
    assert message == SingleStepMessage("look", AT)


def test_update_has_its_state():
    message = read(type="UPDATE", state="INPUT_UPDATE", message="new", emitted_at=AT)
    assert message == Update("INPUT_UPDATE", "new", AT)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"loading model",
        b"[1, 2]",
        b'"LOG"',
        b"null",
        b"\xff\xfe\x00",
        b"{}",
        b'{"type": "BREAKFAST"}',
        b'{"type": ["LOG"]}',
        b'{"type": {"LOG": 1}}',
    ],
)
def test_other_output_is_not_a_message(line):
    assert parse_message(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"type": "RESULT", "result": {"output": NaN}}',
        b'{"type": "LOG", "type": "RESULT"}',
        b'{"type": "RESULT", "result": ' + b'{"output":' * 100_000,
        b'{"type": "RESULT", "result": {"output": ' + b"[" * 80 + b"]" * 80 + b"}}",
        b'{"type": "LOG", "log": "\xff"}',
        b'{"type": "SPEC", "spec": "[]"}',
        b'{"type": "ICON", "icon": 1}',
    ],
)
def test_broken_message_is_an_error_and_not_a_crash(line):
    with pytest.raises(ValidationError):
        parse_message(line)
