"""Reports of test results, as lines of text and as JSON values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from nexus_tools.sui.localnet.move_test.runner import MoveTestResult, Verdict


def result_line(result: MoveTestResult) -> str:
    """Return a test's result in one line."""
    return f"[ {result.verdict.upper():<7} ] {result.test.title} ({result.seconds:.2f} s)"


def failure_lines(result: MoveTestResult) -> Iterator[str]:
    """Yield a failed test's location, reason, call stack, arguments and output."""
    test, explanation = result.test, result.explanation
    yield f"{test.title} ({test.path}:{test.line})"
    yield f"  {result.reason}"
    if explanation is not None:
        yield f"  {explanation.summary}"
        yield from (f"    at {frame}" for frame in explanation.stack)
    if result.arguments is not None:
        yield f"  arguments: {result.arguments}"
    yield from (f"  printed: {line}" for line in result.printed)


def result_record(result: MoveTestResult) -> dict[str, Any]:
    """Return a test's result as JSON values. For a failed test, include `failure`."""
    test, explanation = result.test, result.explanation
    record: dict[str, Any] = {
        "test": test.title,
        "file": test.path,
        "line": test.line,
        "verdict": str(result.verdict),
        "seconds": round(result.seconds, 3),
        "reason": result.reason or None,
        "printed": list(result.printed),
        "arguments": result.arguments,
    }
    if explanation is not None and result.verdict is not Verdict.PASS:
        failure = explanation.failure
        constant = explanation.constant_name
        record["failure"] = {
            "kind": failure.kind,
            "summary": explanation.summary,
            "abort_code": None if failure.code is None else str(failure.code),
            "constant": constant and constant[1],
            "file": explanation.path,
            "line": explanation.line,
            "stack": list(explanation.stack),
        }
    return record


def summary_line(results: Sequence[MoveTestResult]) -> str:
    """Return the number of tests by verdict."""
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    return f"{len(results)} tests: {', '.join(parts) or 'none'}"
