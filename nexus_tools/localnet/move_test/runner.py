"""Running the tests of a package, one after the other, each with objects of its own."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from threading import Event, Thread

from nexus_tools.errors import ValidationError
from nexus_tools.localnet.move_test.attributes import MoveTest
from nexus_tools.localnet.move_test.build import MoveTestBuild
from nexus_tools.localnet.move_test.expected import ExpectedFailure, expected_failure
from nexus_tools.localnet.move_test.explanation import Explainer, Explanation
from nexus_tools.localnet.move_test.failure import Failure, failure_of
from nexus_tools.localnet.move_test.packages import machine_for_tests
from nexus_tools.localnet.move_test.random_arguments import random_arguments
from nexus_tools.localnet.move_test.scenario import Scenario
from nexus_tools.localnet.natives import LimitExceeded, NativeGas, UnsupportedNative
from nexus_tools.localnet.vm import Context, ExecutionFailure, Function, Meter, Value
from nexus_tools.sui.address import ZERO

TIMEOUT_S = 60.0
RANDOM_RUNS = 10

# Internal gas units: about 10 s of computing. A test that is to run out of gas has to use it all.
GAS_LIMIT = 1_000_000_000_000
_NATIVE_BUDGET = 10**12

_CHECK_S = 0.05


class Verdict(StrEnum):
    """How a test ended: `ERROR` is one that could not be run."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class MoveTestResult:
    """One test: its verdict, why, what it printed, and how long it took (s).

    `arguments` are those of the random test that failed, as text.
    """

    test: MoveTest
    verdict: Verdict
    reason: str = ""
    explanation: Explanation | None = None
    printed: tuple[str, ...] = ()
    arguments: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Run:
    """One call of a test function; no failure means that it returned."""

    failure: Failure | None
    printed: tuple[str, ...]
    timed_out: bool


class MoveTestRunner:
    """Runs tests of a build. `seed` decides the arguments of random tests.

    A test may take `timeout_s`, and `gas_limit` units, each about one instruction.
    """

    def __init__(
        self,
        build: MoveTestBuild,
        *,
        seed: int,
        timeout_s: float = TIMEOUT_S,
        gas_limit: int = GAS_LIMIT,
    ) -> None:
        self._gas_limit = gas_limit
        self._names = build.names
        self._seed = seed
        self._timeout_s = timeout_s
        self._machine = machine_for_tests(build)
        self._explainer = Explainer(build)

    def run(self, tests: Sequence[MoveTest]) -> Iterator[MoveTestResult]:
        """Run tests, and give each result when it is there."""
        for test in tests:
            started = time.monotonic()
            result = self._result(test)
            yield replace(result, seconds=time.monotonic() - started)

    def _result(self, test: MoveTest) -> MoveTestResult:
        try:
            expected = expected_failure(test, self._names)
            function = self._function(test)
            runs = list(self._argument_lists(test, function))
        except ValidationError as error:
            return MoveTestResult(test, Verdict.ERROR, str(error))
        for arguments in runs:
            result = self._judged(test, expected, arguments, self._call(function, arguments))
            if result.verdict is not Verdict.PASS:
                return result
        return MoveTestResult(test, Verdict.PASS)

    def _judged(
        self,
        test: MoveTest,
        expected: ExpectedFailure | None,
        arguments: Sequence[Value],
        run: _Run,
    ) -> MoveTestResult:
        shown = repr(list(arguments)) if test.is_random else None
        if run.timed_out:
            reason = f"it did not end within {self._timeout_s:g} s"
            return MoveTestResult(test, Verdict.TIMEOUT, reason, None, run.printed, shown)
        explanation = self._explainer.explain(run.failure) if run.failure else None
        if run.failure is not None and not run.failure.is_of_the_code:
            reason = "it cannot be run here"
            return MoveTestResult(test, Verdict.ERROR, reason, explanation, run.printed, shown)
        reason = _difference(expected, explanation)
        verdict = Verdict.FAIL if reason else Verdict.PASS
        return MoveTestResult(test, verdict, reason, explanation, run.printed, shown)

    def _function(self, test: MoveTest) -> Function:
        address, module = self._names.module_id(test.module, None)
        found = self._machine.function(ZERO, module, test.name) if address == bytes(ZERO) else None
        if found is None:
            raise ValidationError("test_not_compiled", f"{test.title} is not in the package")
        if found.type_parameters:
            raise ValidationError("test_invalid", f"{test.title} has type parameters")
        return found

    def _argument_lists(self, test: MoveTest, function: Function) -> Iterator[list[Value]]:
        if test.is_random:
            source = Random(f"{self._seed} {test.title}")  # noqa: S311 - for tests
            for _ in range(RANDOM_RUNS):
                yield random_arguments(test.title, function.parameters, source)
            return
        values = [self._names.address("".join(value)) for _, value in test.arguments]
        if len(values) != len(function.parameters):
            raise ValidationError("test_invalid", f"{test.title} needs arguments")
        yield values

    def _call(self, function: Function, arguments: Sequence[Value]) -> _Run:
        meter = Meter(self._gas_limit)
        scenario = Scenario(self._machine, NativeGas(_NATIVE_BUDGET))
        context = Context(self._machine, meter, scenario.runtime)
        failure = None
        with _deadline(meter, self._timeout_s) as expired:
            try:
                self._machine.call(function, (), arguments, context)
            except ExecutionFailure as error:
                failure = failure_of(error)
            except (LimitExceeded, UnsupportedNative) as error:
                failure = Failure(type(error).__name__, str(error))
        return _Run(failure, tuple(scenario.printed), expired.is_set())


@contextmanager
def _deadline(meter: Meter, timeout_s: float) -> Iterator[Event]:
    """Take all units away after some time; the event says that this was done."""
    done, expired = Event(), Event()

    def watch() -> None:
        if done.wait(timeout_s):
            return
        expired.set()
        # A block that is being charged may overwrite it once.
        while not done.wait(_CHECK_S):
            meter.exhaust()

    thread = Thread(target=watch, name="move-test-deadline", daemon=True)
    thread.start()
    try:
        yield expired
    finally:
        done.set()
        thread.join()


def _difference(expected: ExpectedFailure | None, explanation: Explanation | None) -> str:
    """What is wrong with how a test ended; empty if it ended as it should."""
    if expected is None:
        return "it failed" if explanation else ""
    if explanation is None:
        return "it passed, but it should have failed"
    if expected.is_met_by(explanation.failure, explanation.constant_name):
        return ""
    return f"it failed, but it should have {expected.in_words()}"
