"""The side of a worker that runs in the foreign interpreter: one request, one reply.

Standard library of Python 3.9 and later; nothing of the package but its own folder.
"""

import fcntl
import importlib
import json
import math
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from nexus_tools.bridges.sandbox.standalone import make_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 60


def json_text(value: object) -> bytes:
    """The value as JSON text, in which tuples are arrays.

    Raises `TypeError` for what is no JSON value and for names that are no strings; `ValueError` for
    NaN and infinities, half a surrogate pair, and what nests deeper than 60 levels.
    """
    waiting: list[tuple[str, int, object]] = [("", 0, value)]
    while waiting:
        place, depth, one = waiting.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"the reply nests deeper than {MAX_DEPTH} levels, or holds itself")
        if isinstance(one, dict):
            waiting.extend((f"{place}/{_name(name, place)}", depth + 1, one[name]) for name in one)
        elif isinstance(one, (list, tuple)):
            waiting.extend((f"{place}/{index}", depth + 1, each) for index, each in enumerate(one))
        else:
            _check_leaf(one, place)
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _name(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name in {_at(place)} is a {type(name).__name__}, and no string")
    _check_text(name, place)
    return name.replace("~", "~0").replace("/", "~1")


def _check_leaf(leaf: object, place: str) -> None:
    if isinstance(leaf, str):
        _check_text(leaf, place)
    elif isinstance(leaf, float):
        if not math.isfinite(leaf):
            raise ValueError(f"{_at(place)} is {leaf}, which is no JSON number")
    elif leaf is not None and not isinstance(leaf, (bool, int)):
        raise TypeError(f"{_at(place)} is a {type(leaf).__name__}, which is no JSON value")


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{_at(place)} has half a surrogate pair, which is no text") from None


def _at(place: str) -> str:
    return f"the reply at {place[:200]}" if place else "the reply"


# --- Loading a tool


class DependencyMissingError(ImportError):
    """A tool cannot be loaded because a module that it imports is not installed."""


@contextmanager
def loading() -> "Iterator[None]":
    """Mark the time in which the code of a tool is imported, and nothing of it is called."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise DependencyMissingError(str(error)) from error


# --- One request


_REPLY = 3
_HIGH = 300
_MAX_TRACEBACK = 16_384


def main(arguments: "list[str]") -> None:
    """Reply to the request on standard input by the module that `arguments` name, and end."""
    [module] = arguments
    asked = os.getpid()
    request = json.loads(sys.stdin.buffer.read())
    descriptor = _take_descriptors()
    reply = _reply(module, request)
    if os.getpid() == asked:  # and not in a process that the module has forked
        _write(descriptor, reply)
    _flush()
    # Threads and exit handlers of a stranger have no say after the reply.
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


def _reply(module: str, request: object) -> bytes:
    try:
        make_packages(module)
        value = importlib.import_module(module).reply(request)
        return b'{"value":' + json_text(value) + b"}"
    except BaseException as error:  # noqa: BLE001 - the edge: whatever a stranger's code raises
        return _error(error)


def _error(error: BaseException) -> bytes:
    try:
        message = str(error)
    except BaseException as second:  # noqa: BLE001 - a stranger's `__str__`
        message = f"its message cannot be read ({type(second).__name__})"
    reply = {"type": type(error).__name__, "message": message, "traceback": _traceback()}
    plain = {name: text.encode("utf-8", "replace").decode() for name, text in reply.items()}
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
