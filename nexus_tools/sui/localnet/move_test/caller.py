"""Calls of test functions. Each call has its own objects and a time limit."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from msgspec import Struct

from nexus_tools.sui.localnet.move_test.failure import Failure, failure_of
from nexus_tools.sui.localnet.move_test.scenario import Scenario
from nexus_tools.sui.localnet.natives import NativeGas, UnsupportedNative
from nexus_tools.sui.localnet.vm import Context, Function, Machine, Meter, MoveFailure, Value
from nexus_tools.sui.types.address import Address

# The gas limit of a test is only for instructions. Native functions have a separate budget, which
# no test should use up.
_NATIVE_BUDGET = 10**12
_CHECK_S = 0.05


class TestCall(Struct, frozen=True):
    """The result of calling a test. If `failure` is None, the function returned normally."""

    __test__ = False

    failure: Failure | None
    printed: tuple[str, ...]
    timed_out: bool


class TestCaller:
    """A caller of tests in one VM, with a limit of `timeout_s` seconds for each call."""

    __test__ = False

    def __init__(self, machine: Machine, timeout_s: float) -> None:
        self._machine = machine
        self._timeout_s = timeout_s

    def function(self, module: tuple[bytes, str], name: str) -> Function | None:
        """Return a function of the module with this address and name, or None."""
        address, module_name = module
        return self._machine.types.function(Address(address), module_name, name)

    def call(self, function: Function, arguments: Sequence[Value], gas_limit: int) -> TestCall:
        """Call a test with copies of the arguments and at most `gas_limit` internal gas units."""
        meter = Meter(gas_limit)
        scenario = Scenario(self._machine, NativeGas(_NATIVE_BUDGET))
        context = Context(self._machine.types, meter, scenario.runtime)
        failure = None
        with _deadline(meter, self._timeout_s) as expired:
            try:
                self._machine.call(function, (), copy.deepcopy(list(arguments)), context)
            except (MoveFailure, UnsupportedNative) as error:
                failure = failure_of(error)
        return TestCall(failure, tuple(scenario.printed), expired.is_set())


@contextmanager
def _deadline(meter: Meter, timeout_s: float) -> Iterator[Event]:
    """Exhaust the meter after `timeout_s` seconds. Yield an event that is set then."""
    ended, expired = Event(), Event()

    def watch() -> None:
        if ended.wait(timeout_s):
            return
        expired.set()
        # Exhaust the meter repeatedly, because code that is being charged may overwrite it.
        while not ended.wait(_CHECK_S):
            meter.exhaust()

    # Translated code runs in this thread and checks only its meter. So a second thread stops the
    # code by exhausting the meter, and the code needs no time checks.
    thread = Thread(target=watch, name="move-test-deadline", daemon=True)
    thread.start()
    try:
        yield expired
    finally:
        ended.set()
        thread.join()
