"""Ctrl-C while a command waits for a person."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
