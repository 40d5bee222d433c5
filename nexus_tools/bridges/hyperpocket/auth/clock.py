"""The clock of the sign-in code, which tests can replace."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock: `now` returns seconds since 1970, and `sleep` waits for a number of seconds."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
