import json

import pytest

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Limit, ProcessResult
from nexus_tools.bridges.unstract.output import Ending, ToolException
from nexus_tools.bridges.unstract.transcript import Transcript

RESULT = {"type": "RESULT", "result": {"output": 1}}
TRACEBACK = """Traceback (most recent call last):
  File "main.py", line 3, in <module>
    settings["extractorId"]
KeyError: 'extractorId'
"""


def log(text, level="ERROR"):
    return {"type": "LOG", "level": level, "log": text}


def ending(*messages, exit_code=0, limit=None, stderr="", redaction=None):
    transcript = Transcript()
    for message in messages:
        transcript.feed(json.dumps(message).encode() + b"\n")
    transcript.close()
    finished = ProcessResult(exit_code, b"", stderr.encode(), None, limit, 10)
    return Ending(finished, transcript, redaction or Redaction())


def problem(*messages, strict=False, **how):
    return ending(*messages, **how).problem(strict_error_logs=strict)


def test_run_succeeds_with_exit_code_0_and_a_result():
    assert problem(RESULT) == ""


def test_logged_error_is_a_failure_only_on_request():
    messages = [log("no page usage"), RESULT]
    assert problem(*messages) == ""
    assert problem(*messages, strict=True) == "the tool logged an error: no page usage"
    assert problem(log("careful", "WARN"), RESULT, strict=True) == ""


def test_run_without_a_result_fails():
    assert problem(log("done", "INFO")) == "the tool ended without a RESULT"


def test_unreadable_result_is_the_reason():
    assert "has no output" in problem({"type": "RESULT", "result": {}})


def test_exit_code_outweighs_a_result():
    assert problem(RESULT, exit_code=3) == "the tool exited with code 3"


def test_last_logged_error_is_the_reason():
    messages = [log("page usage"), log("Invalid settings")]
    assert problem(*messages, exit_code=1, stderr=TRACEBACK) == "the tool failed: Invalid settings"


def test_exception_after_other_logs_is_the_reason():
    messages = [log("page usage"), log("going on", "INFO")]
    reason = problem(*messages, exit_code=1, stderr=TRACEBACK)
    assert reason == "the tool failed: KeyError: 'extractorId'"


def test_limit_is_the_reason_before_all_others():
    reason = problem(log("x"), exit_code=None, limit=Limit.TIME, stderr=TRACEBACK)
    assert "time limit" in reason


def test_error_has_the_facts_of_the_process():
    ports = ending(log("bad"), exit_code=1, stderr=TRACEBACK).error("no")["err"]
    assert ports["reason"] == "no"
    assert ports["type"] == "KeyError"
    assert ports["exit_code"] == 1
    assert ports["log"] == TRACEBACK.rstrip("\n")
    assert ports["logs"] == [{"level": "ERROR", "log": "bad"}]
    assert "limit" not in ports


def test_log_ends_with_standard_error_and_is_limited():
    text = ending(stderr="x" * 10_000 + "end").log
    assert len(text) == 4_096
    assert text.endswith("end")


def test_operator_values_are_redacted_in_errors():
    redaction = Redaction.of(["sk-12345"])
    ending_ = ending(log("key sk-12345"), exit_code=1, stderr="sk-12345", redaction=redaction)
    document = json.dumps(ending_.error("sk-12345 is wrong"))
    assert "sk-12345" not in document
    assert document.count("[redacted]") == 3


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        (TRACEBACK, ToolException("KeyError", "'extractorId'")),
        (TRACEBACK.replace("KeyError: 'extractorId'", "a.b.Error"), ToolException("Error", "")),
        (TRACEBACK + TRACEBACK.replace("Key", "Type"), ToolException("TypeError", "'extractorId'")),
        (TRACEBACK.replace("KeyError:", "not an exception"), None),
        ("KeyError: 'extractorId'", None),
        ("Traceback (most recent call last):", None),
        ("", None),
    ],
)
def test_last_traceback_has_the_exception(stderr, expected):
    assert ToolException.last_in(stderr) == expected
