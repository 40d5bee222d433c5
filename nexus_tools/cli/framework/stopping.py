"""Orderly shutdown of a server by Ctrl-C or SIGTERM."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CHUNK = 65_536


async def until_stopped(
    serving: Coroutine[Any, Any, None], stop: Callable[[], None] = lambda: None
) -> None:
    """Run a server until it ends. A signal calls `stop` and cancels the server without an error.

    After a signal, further signals are ignored until the event loop closes. The exit code of the
    command then does not depend on how often the user presses Ctrl-C.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(serving)
    stopped = False

    def end() -> None:
        nonlocal stopped
        stopped = True
        stop()
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        await task
    except (asyncio.CancelledError, Exception):
        # During shutdown, streams close while they are still in use.
        if not stopped:
            raise
    finally:
        if not stopped:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


@contextmanager
def closable_stdin() -> Iterator[Callable[[], None]]:
    """Provide a function that ends stdin for its reader.

    A thread that blocks in a read cannot be cancelled. Therefore another thread copies the original
    stdin to a socket, which becomes file descriptor 0. Shutting down the socket ends the read.
    """
    real = os.dup(0)
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 0)
    theirs.close()

    def feed() -> None:
        with suppress(OSError):  # the socket was shut down before all input was read
            while chunk := os.read(real, _CHUNK):
                ours.sendall(chunk)
            ours.shutdown(socket.SHUT_WR)

    def end() -> None:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=feed, name="stdin", daemon=True).start()
    try:
        yield end
    finally:
        end()
        os.dup2(real, 0)
