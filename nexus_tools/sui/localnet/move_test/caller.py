"""One call of a test function, with objects of its own and an end."""

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

# Natives have a budget of their own, which no test is to use up: its limit is for instructions.
_NATIVE_BUDGET = 10**12
_CHECK_S = 0.05


class TestCall(Struct, frozen=True):
    """How a call ended; no failure means that it returned."""

    __test__ = False

    failure: Failure | None
    printed: tuple[str, ...]
    timed_out: bool


class TestCaller:
    """Calls the tests of one machine, each for at most `timeout_s`."""

    __test__ = False

    def __init__(self, machine: Machine, timeout_s: float) -> None:
        self._machine = machine
        self._timeout_s = timeout_s

    def function(self, module: tuple[bytes, str], name: str) -> Function | None:
        """A function of a module, by address and name."""
        address, module_name = module
        return self._machine.types.function(Address(address), module_name, name)

    def call(self, function: Function, arguments: Sequence[Value], gas_limit: int) -> TestCall:
        """Call a test for at most `gas_limit` units; the arguments stay as they are."""
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
    """Take all units away after some time; the event says that this was done."""
    done, expired = Event(), Event()

    def watch() -> None:
        if done.wait(timeout_s):
            return
        expired.set()
        # A block that is being charged may overwrite it once.
        while not done.wait(_CHECK_S):
            meter.exhaust()

    # Translated code runs in this thread and looks at nothing but its meter: so that is how another
    # thread ends it, without a check of the time in the code.
    thread = Thread(target=watch, name="move-test-deadline", daemon=True)
    thread.start()
    try:
        yield expired
    finally:
        done.set()
        thread.join()
