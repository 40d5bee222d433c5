"""The side of a worker that runs in the foreign interpreter: one request, one answer.

Standard library of Python 3.9 and later; nothing of the package but its own folder.
"""

import fcntl
import importlib
import json
import os
import sys
from contextlib import suppress

from nexus_tools.bridges.sandbox.detached import make_packages
from nexus_tools.bridges.worker.json_text import json_text

_REPLY = 3
_HIGH = 300
_MAX_TRACEBACK = 16_384


def main(arguments: "list[str]") -> None:
    """Answer the request on standard input by the module that `arguments` name, and end."""
    [module] = arguments
    asked = os.getpid()
    request = json.loads(sys.stdin.buffer.read())
    reply = _take_descriptors()
    answer = _answer(module, request)
    if os.getpid() == asked:  # and not in a process that the module has forked
        _write(reply, answer)
    _flush()
    # Threads and exit handlers of a stranger have no say after the answer.
    os._exit(0)


def _take_descriptors() -> int:
    """Where the reply goes. The module gets no input, and what it prints goes to the log.

    The reply's descriptor is moved away from 3, a number that programs write to in good faith.
    """
    reply = fcntl.fcntl(_REPLY, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(_REPLY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return reply


def _answer(module: str, request: object) -> bytes:
    try:
        make_packages(module)
        value = importlib.import_module(module).answer(request)
        return b'{"value":' + json_text(value) + b"}"
    except BaseException as error:  # noqa: BLE001 - the edge: whatever a stranger's code raises
        return _error(error)


def _error(error: BaseException) -> bytes:
    try:
        message = str(error)
    except BaseException as second:  # noqa: BLE001 - a stranger's `__str__`
        message = f"its message cannot be read ({type(second).__name__})"
    answer = {"type": type(error).__name__, "message": message, "traceback": _traceback()}
    plain = {name: text.encode("utf-8", "replace").decode() for name, text in answer.items()}
    return json.dumps(plain).encode("ascii")


def _traceback() -> str:
    try:
        import traceback  # noqa: PLC0415 - costs 4 ms, and most calls need none

        return traceback.format_exc()[-_MAX_TRACEBACK:]
    except BaseException as second:  # noqa: BLE001 - it quotes what a stranger's code may change
        return f"the traceback cannot be written ({type(second).__name__})"


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # as above, and there is nothing left to say
            stream.flush()
