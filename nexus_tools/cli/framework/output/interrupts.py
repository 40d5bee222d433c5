"""Ctrl-C while a command waits for a person, and SIGTERM where it is to do the same."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end what blocks the main thread in here, also within `asyncio.run`.

    asyncio answers SIGINT by cancelling the task that runs, which takes effect at its next `await`:
    a task that waits for a line of stdin has none before the line is there.
    """
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end what is in here as Ctrl-C does: what has to be said at the end is said.

    Outside the main thread, where no signal arrives, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    usual = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
