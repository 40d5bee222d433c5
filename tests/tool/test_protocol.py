"""The protocol's words stand in one file; what they are is said by the specification here."""

import ast
import re
from pathlib import Path

import pytest

import nexus_tools
from nexus_tools.tool import FailureReason, protocol
from nexus_tools.tool.protocol import Problem

PACKAGE = Path(nexus_tools.__file__).parent
HOME = PACKAGE / "tool" / "protocol.py"
# The localnet and the explorer have paths of their own, as the `/health` of a faucet.
OTHERS = {PACKAGE / "sui" / "localnet", PACKAGE / "explorer"}

HEADERS = re.compile(rf"(?:{'|'.join(protocol.CALL_HEADERS)})(?![\w-])", re.IGNORECASE)
# A path by itself or behind a method or a URL, and not part of a longer one.
PATHS = re.compile(r"(?:^|[\s}])/(?:health|meta|invoke|tools)(?![\w/-])")
MEDIA_TYPES = re.compile(re.escape(protocol.PROBLEM_JSON))


def _literals(path):
    """Yield the strings of a program, except for docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")
            elif isinstance(node.value, str):
                yield node.lineno, node.value


def _sources():
    programs = (path for path in PACKAGE.rglob("*.py") if OTHERS.isdisjoint(path.parents))
    for path in programs:
        if path != HOME:
            yield from ((path, line, text) for line, text in _literals(path))
    for path in PACKAGE.rglob("*.template"):
        lines = path.read_text(encoding="utf-8").splitlines()
        yield from ((path, number, line) for number, line in enumerate(lines, 1))


def test_protocol_constants_are_defined_once():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text[:60]}"
        for path, line, text in _sources()
        if HEADERS.search(text) or PATHS.search(text) or MEDIA_TYPES.search(text)
    ]
    assert found == []


def test_search_for_duplicate_constants_works():
    wrong = ['"Nexus-Tool"', 'b"idempotency-key"', 'f"{url}/invoke"', '"GET /health"', '"/tools"']
    right = ['"/tools/list"', '"its tools"', 'f"{folder}/invoker"', '"and/or"']
    for text in wrong:
        assert any(_is_found(part) for _, part in _parts(text)), text
    for text in right:
        assert not any(_is_found(part) for _, part in _parts(text)), text


def _is_found(text):
    return HEADERS.search(text) or PATHS.search(text)


def _parts(expression):
    node = ast.parse(expression, mode="eval")
    for each in ast.walk(node):
        if isinstance(each, ast.Constant):
            value = each.value
            yield 1, value.decode("latin-1") if isinstance(value, bytes) else value


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, FailureReason.UNAUTHORIZED),
        (403, FailureReason.UNAUTHORIZED),
        (409, FailureReason.TIMED_OUT),
        (422, FailureReason.INPUT_INVALID),
        (504, FailureReason.HTTP_ERROR),
        (301, FailureReason.HTTP_ERROR),
        (500, FailureReason.HTTP_ERROR),
        (599, FailureReason.HTTP_ERROR),
    ],
)
def test_failure_reason_follows_from_status(status, reason):
    assert protocol.failure_reason(status) is reason


def test_gateway_timeout_is_not_a_tool_timeout():
    assert protocol.failure_reason(504, "timed_out") is FailureReason.TIMED_OUT


def test_retry_is_safe_if_nothing_ran_or_it_still_runs():
    again = [status for status in range(200, 600) if protocol.is_retryable(status)]
    assert again == [409, 429, 502, 503, 504]
    assert not protocol.is_retryable(504, "timed_out")


def test_caller_specific_problems():
    alone = [status for status in range(200, 600) if protocol.is_caller_specific(status)]
    assert alone == [401, 403, 429]
    assert protocol.is_caller_specific(422, "key_reused")


def test_problem_codes_are_unique():
    codes = [problem.code for problem in Problem]
    assert len(set(codes)) == len(codes)
    assert len(list(Problem)) == len(Problem.__members__)


@pytest.mark.parametrize("url", ["https://a.example/add", "https://a.example/add/"])
def test_endpoint_url_ignores_a_trailing_slash(url):
    assert protocol.endpoint(url, protocol.INVOKE) == "https://a.example/add/invoke"


def test_tool_at_the_root_has_the_url_of_the_server():
    assert protocol.tool_url("https://a.example/", "/") == "https://a.example"
    assert protocol.tool_url("https://a.example", "/add") == "https://a.example/add"
