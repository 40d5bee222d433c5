import json
import re
import subprocess
import sys

import pytest
import structlog

from nexus_tools.sui.support.logs import error_summary, get_logger
from tests.hostile_texts import harmful_characters


def _run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr


def test_logging_is_silent_until_configured():
    program = """
from nexus_tools.sui.support.logs import get_logger
log = get_logger("nexus_tools.test")
log.error("broke")
log.bind(tool="a").warning("late")
import structlog
log.error("broke")
"""
    assert _run(program) == ("", "")


def test_process_logs_events_on_stderr_as_json():
    program = """
from nexus_tools.sui.support.logs import get_logger, log_to_stderr
log = get_logger("nexus_tools.test")
log_to_stderr("json")
log.debug("unheard")
log.info("heard", tool="a")
"""
    out, err = _run(program)
    [event] = map(json.loads, err.splitlines())
    assert (out, event["event"], event["level"], event["tool"]) == ("", "heard", "info", "a")


def test_existing_structlog_configuration_is_kept():
    program = """
import structlog
from nexus_tools.sui.support.logs import get_logger, log_to_stderr
structlog.configure(processors=[structlog.processors.KeyValueRenderer()])
log_to_stderr("json", again=False)
get_logger("nexus_tools.test").info("heard")
"""
    assert _run(program) == ("event='heard'\n", "")


@pytest.mark.parametrize("form", ["json", "text"])
def test_traceback_contains_no_local_variables(form):
    program = f"""
from nexus_tools.sui.support.logs import get_logger, log_to_stderr
log_to_stderr("{form}")
def break_it():
    key = "0x" + "5ec4e7" * 2
    raise ValueError("a bug")
try:
    break_it()
except ValueError:
    get_logger("nexus_tools.test").exception("broke")
"""
    _, err = _run(program)
    assert "a bug" in err
    assert "break_it" in err
    assert "5ec4e75ec4e7" not in err


def test_short_exception_has_its_kind_and_location():
    with pytest.raises(ValueError, match="invalid literal") as caught:
        int("a secret")
    assert re.fullmatch(r"ValueError at test_logs\.py:\d+", error_summary(caught.value))
    assert error_summary(KeyError("a secret")) == "KeyError"


@pytest.fixture
def unconfigured():
    """Reset logging to the state of a program that has configured nothing."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "exception"])
def test_every_level_reaches_the_handlers(level, unconfigured):
    with structlog.testing.capture_logs() as entries:
        getattr(get_logger("nexus_tools.test"), level)("happened", number=1)
        getattr(get_logger("nexus_tools.test").bind(tool="a"), level)("happened")
    assert [entry["event"] for entry in entries] == ["happened", "happened"]
    assert (entries[0]["number"], entries[1]["tool"]) == (1, "a")


ATTACK = "a\x1b[2J\u202eb\u3164\u200bc\nforged"


@pytest.mark.parametrize("form", ["json", "text"])
def test_logs_contain_no_terminal_control_characters(form):
    program = f"""
from nexus_tools.sui.support.logs import get_logger, log_to_stderr
log_to_stderr("{form}")
log, attack = get_logger("nexus_tools.test"), {ATTACK!a}
log.info("text", detail=attack)
log.info("values", details=[attack], by_name={{attack: attack}}, error=ValueError(attack))
log.info("cause", cause=attack)
try:
    raise ValueError(attack)
except ValueError:
    log.exception("exception")
"""
    _, err = _run(program)
    assert all(event in err for event in ("text", "values", "cause", "exception"))
    assert err.count("forged") == 7
    assert harmful_characters(err) == set()
    assert "\nforged" not in err
