"""Handling of Ctrl-C while a command waits for input, and of SIGTERM as if it were Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt blocking calls in the main thread, also within `asyncio.run`.

    asyncio handles SIGINT by cancelling the running task, which takes effect at its next `await`. A
    task that blocks in a read of stdin does not reach an `await` until it has read a line.
    """
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def terminable() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C in this block, so that final messages are still printed.

    Outside the main thread, the block has no effect, because only the main thread gets signals.
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
