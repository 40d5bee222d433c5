"""The runner of one target in this process for a limited time."""

import resource
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded

from fuzzing.finding import Finding, TimeLimitExceeded, of, place
from fuzzing.target import Target, load

_ROUND = 500
_INPUT_SECONDS = 20
_SHRINKING_SECONDS = 120
_MEMORY_BYTES = 4 * 1024**3
_SETTINGS = settings(
    max_examples=_ROUND,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)


class _RoundOver(KeyboardInterrupt):
    """The exception that ends a round. Hypothesis stops only at a `KeyboardInterrupt`."""


class Run:
    """Rounds of hypothesis, each with its own seed, until the time limit.

    `executions` counts the inputs, and `outcomes` counts their results. Hypothesis minimizes the
    first failure of each kind. Further failures of the kind are only counted. The file `current`
    always contains the current input, in case this process dies.
    """

    def __init__(self, name: str, seconds: float, seed: int, current: Path) -> None:
        self._name = name
        self._deadline = monotonic() + seconds
        self._seed = seed
        self._current = current
        self._known: set[str] = set()
        self.executions = 0
        self.outcomes: Counter[str] = Counter()
        self.findings: list[Finding] = []

    def go_on(self) -> None:
        """Run until the time limit."""
        limit_memory()
        target = load(self._name)
        inputs, number = target.inputs(), 0
        while monotonic() < self._deadline:
            self._round(target, inputs, self._seed * 1_000_003 + number)
            number += 1

    def _round(self, target: Target, inputs: Any, number: int) -> None:
        broken: dict[str, Finding] = {}  # the smallest finding by location

        @_SETTINGS
        @seeded(number)
        @given(inputs)
        def run(data: bytes) -> None:
            if monotonic() >= self._deadline + (_SHRINKING_SECONDS if broken else 0):
                raise _RoundOver
            error = self._use(target, data)
            if error is None or place(error) in self._known:
                return
            found = broken.get(place(error))
            if found is None or len(data) <= len(found.data):
                broken[place(error)] = of(self._name, data, error)
            raise AssertionError(place(error)) from error

        try:
            run()
        except _RoundOver:
            pass
        except BaseException as error:
            if not broken or isinstance(error, KeyboardInterrupt):
                raise
        self.findings += broken.values()
        self._known |= set(broken)

    def _use(self, target: Target, data: bytes) -> BaseException | None:
        self._current.write_bytes(data)
        self.executions += 1
        try:
            with time_limit(_INPUT_SECONDS):
                self.outcomes[target.check(data)] += 1
        except (Exception, TimeLimitExceeded) as error:  # noqa: BLE001 - any exception is a finding
            self.outcomes["broken"] += 1
            return error
        return None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitExceeded` in the block if it uses more than `seconds` of CPU time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeLimitExceeded(f"the input took more than {seconds} s")

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def limit_memory() -> None:
    """Limit the memory of this process, so that excessive allocations fail.

    The limit does not count reserved addresses that were never written, because the compiler
    reserves many of them.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, hard))
