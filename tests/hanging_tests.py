"""A pytest plugin that shows where a test hangs, before the timeout ends its process.

The report of `pytest-timeout` is lost in worker processes, and does not show suspended tasks.
"""

import asyncio
import faulthandler
import gc
import os
import threading

import pytest

_SHARE_OF_TIMEOUT = 0.9
_STDERR = 2


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Report the test if it takes nearly as long as the timeout allows."""
    limit_s = float(item.config.getini("timeout")) * _SHARE_OF_TIMEOUT
    timer = threading.Timer(limit_s, _report, [item])
    timer.daemon = True
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()


def _report(item):
    """Write to the terminal instead of the file that captures the output of tests."""
    item.config.pluginmanager.getplugin("capturemanager").suspend_global_capture()
    tasks = [task for task in gc.get_objects() if isinstance(task, asyncio.Task)]
    lines = [
        f"{task.get_name()}: {' > '.join(_suspended_calls(task.get_coro()))}\n"
        for task in tasks
        if not task.done()
    ]
    heading = f"\n{item.nodeid} hangs. Suspended tasks and threads:\n"
    os.write(_STDERR, (heading + "".join(lines)).encode())
    faulthandler.dump_traceback(_STDERR)


def _suspended_calls(awaited):
    """Yield the position of a coroutine, and of everything that it awaits."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "ag_frame", None)
        yield f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else repr(awaited)
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "ag_await", None)
