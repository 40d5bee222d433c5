"""The protection of event loops from gRPC events of closed loops.

All event loops of a process share one queue of gRPC events. A loop that reads an event of another
loop passes the event on with `call_soon_threadsafe`. If the other loop is closed, this raises
`RuntimeError` in the reading loop, which then leaves further events in the queue. Any loop may be
closed before its last events, because a program cannot wait for the last event of a cancelled call.

Source: `_handle_events` in gRPC's `completion_queue.pyx.pxi`.
"""

import asyncio
from typing import Any

_GRPC_CALLBACK = "_handle_callback_wrapper"
_MARK = "_ignores_late_grpc_events"


def ignore_late_grpc_events(loop: asyncio.AbstractEventLoop) -> None:
    """Let a loop ignore gRPC events that arrive after it was closed.

    For other callbacks, `call_soon_threadsafe` of a closed loop still raises `RuntimeError`.
    """
    if hasattr(loop, _MARK):
        return
    schedule = loop.call_soon_threadsafe

    def call_soon_threadsafe(callback: Any, *args: Any, **options: Any) -> Any:
        try:
            return schedule(callback, *args, **options)
        except RuntimeError:
            if loop.is_closed() and getattr(callback, "__name__", "") == _GRPC_CALLBACK:
                return None
            raise

    setattr(loop, _MARK, True)
    loop.call_soon_threadsafe = call_soon_threadsafe  # type: ignore[assignment, method-assign]
