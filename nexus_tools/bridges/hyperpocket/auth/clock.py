"""The clock of sign-ins, which tests replace."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock: `now` is in seconds since 1970, `sleep` waits for a number of seconds."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
