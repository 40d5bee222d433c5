"""Tests with markers: they say which lines were passed, and never what the verdict is."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from nexus_tools.localnet.move_test.calls import TestCaller
from nexus_tools.localnet.move_test.coverage import Coverage, coverage_of
from nexus_tools.localnet.move_test.failure import OUT_OF_GAS, Failure
from nexus_tools.localnet.move_test.marked_build import MarkedBuild
from nexus_tools.localnet.move_test.markers import Statement, marker_native
from nexus_tools.localnet.move_test.packages import machine_for_tests
from nexus_tools.localnet.move_test.source_lines import SourceLines
from nexus_tools.localnet.vm import Function, Value

# Markers cost gas and time; a call that ended without them ends with them, too.
_MORE_TIME = 10
_GAS_FOR_ALL = 10**15


class MarkedRun:
    """Runs tests of a package with markers, which `build` gives when they are first needed."""

    def __init__(
        self, build: Callable[[], MarkedBuild], *, timeout_s: float, gas_limit: int
    ) -> None:
        self._build = build
        self._timeout_s = timeout_s * _MORE_TIME
        self._gas_limit = gas_limit
        self._counts: Counter[int] = Counter()
        self._last = 0

    def compile(self) -> None:
        """Build the package now, so that it does not take the time of the first test."""
        _ = self._caller

    def coverage(self) -> Coverage:
        """The lines that all calls have passed."""
        return coverage_of(self._marked, self._counts)

    def call(
        self, function: Function, arguments: Sequence[Value], failure: Failure | None
    ) -> list[Statement | None]:
        """Call a test again that ended with `failure`: the statements of its frames.

        None are known if it ended in another way this time.
        """
        marked = self._caller.function(function.module, function.name)
        if marked is None or not self._marked.statements:
            return []
        is_out_of_gas = failure is not None and failure.kind == OUT_OF_GAS
        limit = self._gas_limit if is_out_of_gas else _GAS_FOR_ALL
        again = self._caller.call(marked, arguments, limit).failure
        if failure is None or again is None or _place(again) != _place(failure):
            return []
        found = [self._lines.statement_at(frame) for frame in again.frames]
        last = self._marked.statements[self._last]
        if is_out_of_gas and found and last.function.name == again.frames[0].function:
            found[0] = last
        return found

    @cached_property
    def _marked(self) -> MarkedBuild:
        return self._build()

    @cached_property
    def _lines(self) -> SourceLines:
        return SourceLines(self._marked)

    @cached_property
    def _caller(self) -> TestCaller:
        machine = machine_for_tests(self._marked.build, marker_native(self._passed))
        return TestCaller(machine, self._timeout_s)

    def _passed(self, number: int) -> None:
        self._counts[number] += 1
        self._last = number


def _place(failure: Failure) -> tuple[object, ...]:
    """What ended a test and where, as far as markers do not change it."""
    functions = tuple((frame.module, frame.function) for frame in failure.frames)
    return failure.kind, failure.sub_status, failure.place, functions
