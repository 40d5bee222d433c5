"""The runner of a package's tests, which runs tests in sequence and with separate objects."""

import time
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.move_test.caller import TestCall, TestCaller
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import MoveTest
from nexus_tools.sui.localnet.move_test.compilation.build import MoveTestBuild
from nexus_tools.sui.localnet.move_test.compilation.markers import MarkedBuild
from nexus_tools.sui.localnet.move_test.coverage import Coverage
from nexus_tools.sui.localnet.move_test.explanation import Explainer, Explanation
from nexus_tools.sui.localnet.move_test.failure import ExpectedFailure, expected_failure
from nexus_tools.sui.localnet.move_test.machine import machine_for_tests
from nexus_tools.sui.localnet.move_test.marked_run import MarkedRun
from nexus_tools.sui.localnet.vm import Function, Type, Value
from nexus_tools.sui.types.type_tag import Primitive, VectorTag

TIMEOUT_S = 60.0
RANDOM_RUNS = 10

# The default limit in internal gas units, which is about 10 s of computation. A test that expects
# OUT_OF_GAS uses the whole limit.
GAS_LIMIT = 1_000_000_000_000


class Verdict(StrEnum):
    """The verdict on a test. `ERROR` means that the test could not be run."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    TIMEOUT = "timeout"
    ERROR = "error"


class MoveTestResult(Struct, frozen=True):
    """A test's verdict, reason, explanation, output and duration in seconds.

    `arguments` are the arguments of a failed random test as text.
    """

    test: MoveTest
    verdict: Verdict
    reason: str = ""
    explanation: Explanation | None = None
    printed: tuple[str, ...] = ()
    arguments: str | None = None
    seconds: float = 0.0


class MoveTestRunner:
    """A runner of the tests of one build. `seed` determines the arguments of random tests.

    A test may run for `timeout_s` seconds and use `gas_limit` internal gas units. `marked` returns
    this build with markers, which determine the lines of failures. If `covers` is set, the markers
    also determine the executed lines of all tests.
    """

    def __init__(
        self,
        build: MoveTestBuild,
        *,
        seed: int,
        timeout_s: float = TIMEOUT_S,
        gas_limit: int = GAS_LIMIT,
        marked: Callable[[], MarkedBuild] | None = None,
        covers: bool = False,
    ) -> None:
        self._names = build.names
        self._seed = seed
        self._timeout_s = timeout_s
        self._gas_limit = gas_limit
        self._caller = TestCaller(machine_for_tests(build), timeout_s)
        self._explainer = Explainer(build)
        self._marked = marked and MarkedRun(marked, timeout_s=timeout_s, gas_limit=gas_limit)
        self._covers = covers

    def coverage(self) -> Coverage:
        """Return the coverage of the tests that have run so far. Requires `marked` and `covers`."""
        assert self._marked is not None
        assert self._covers
        return self._marked.coverage()

    def run(self, tests: Sequence[MoveTest]) -> Iterator[MoveTestResult]:
        """Run tests, and yield each result as soon as the test ends."""
        if self._marked is not None and self._covers:
            self._marked.compile()
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
            call = self._caller.call(function, arguments, self._gas_limit)
            result = self._judge(test, expected, arguments, call)
            result = self._with_lines(result, function, arguments, call)
            if result.verdict is not Verdict.PASS:
                return result
        return MoveTestResult(test, Verdict.PASS)

    def _with_lines(
        self, result: MoveTestResult, function: Function, arguments: Sequence[Value], call: TestCall
    ) -> MoveTestResult:
        """Repeat a test with markers, and return its result with the lines of the call stack."""
        has_stack = result.verdict is not Verdict.PASS and call.failure is not None
        if self._marked is None or call.timed_out or not (self._covers or has_stack):
            return result
        statements = self._marked.call(function, arguments, call.failure)
        if not has_stack or call.failure is None:
            return result
        return replace(result, explanation=self._explainer.explain(call.failure, statements))

    def _judge(
        self,
        test: MoveTest,
        expected: ExpectedFailure | None,
        arguments: Sequence[Value],
        run: TestCall,
    ) -> MoveTestResult:
        arguments_text = repr(list(arguments)) if test.is_random else None
        if run.timed_out:
            reason = f"the test did not end within {self._timeout_s:g} s"
            return MoveTestResult(test, Verdict.TIMEOUT, reason, None, run.printed, arguments_text)
        explanation = self._explainer.explain(run.failure) if run.failure else None
        if run.failure is not None and not run.failure.is_of_the_code:
            reason = "the localnet does not support a function that the test uses"
            return MoveTestResult(
                test, Verdict.ERROR, reason, explanation, run.printed, arguments_text
            )
        reason = _difference(expected, explanation)
        verdict = Verdict.FAIL if reason else Verdict.PASS
        return MoveTestResult(test, verdict, reason, explanation, run.printed, arguments_text)

    def _function(self, test: MoveTest) -> Function:
        function = self._caller.function(self._names.module_id(test.module, None), test.name)
        if function is None:
            raise ValidationError("test_not_compiled", f"{test.title} is not in the built package")
        if function.type_parameters:
            message = f"{test.title} has type parameters, but a test must not have any"
            raise ValidationError("test_invalid", message)
        return function

    def _argument_lists(self, test: MoveTest, function: Function) -> Iterator[list[Value]]:
        if test.is_random:
            # The seed contains the title, so the arguments do not depend on which other tests run.
            source = Random(f"{self._seed} {test.title}")  # noqa: S311 - for tests
            for _ in range(RANDOM_RUNS):
                yield random_arguments(test.title, function.parameters, source)
            return
        values = [self._names.address("".join(value)) for _, value in test.arguments]
        if len(values) != len(function.parameters):
            message = (
                f"{test.title}: expected {len(function.parameters)} arguments, got {len(values)}"
            )
            raise ValidationError("test_invalid", message)
        yield values


def _difference(expected: ExpectedFailure | None, explanation: Explanation | None) -> str:
    """Return a description of how the result differs from the expected result, or ""."""
    if expected is None:
        return "the test failed" if explanation else ""
    if explanation is None:
        return "the test passed, but it should have failed"
    if expected.is_met_by(explanation.failure, explanation.constant_name):
        return ""
    return f"the test failed, but it should have {expected.in_words()}"


_VECTOR_MAX = 64
_ADDRESS_BYTES = 32
_BITS = {
    Primitive.U8: 8,
    Primitive.U16: 16,
    Primitive.U32: 32,
    Primitive.U64: 64,
    Primitive.U128: 128,
    Primitive.U256: 256,
}


def random_arguments(title: str, types: Sequence[Type], source: Random) -> list[Value]:
    """Return a random value of each type.

    Raises:
        ValidationError: A type has no random values.
    """
    return [_value(title, type_, source) for type_ in types]


def _value(title: str, type_: Type, source: Random) -> Value:
    if type_ is Primitive.BOOL:
        return source.random() < 0.5
    if type_ is Primitive.ADDRESS:
        return source.randbytes(_ADDRESS_BYTES)
    if isinstance(type_, Primitive) and type_ in _BITS:
        return source.getrandbits(_BITS[type_])
    if isinstance(type_, VectorTag):
        length = source.randint(0, _VECTOR_MAX)
        values = [_value(title, type_.element, source) for _ in range(length)]
        return bytearray(values) if type_.element is Primitive.U8 else values
    message = f"{title}: a random test cannot have a parameter of type {type_}"
    raise ValidationError("random_test_unsupported", message)
