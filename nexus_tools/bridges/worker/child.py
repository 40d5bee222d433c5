"""The part of a worker that runs in the separate interpreter and handles one request.

This module uses the standard library of Python 3.9 and later, and no other part of this package.
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
    """Return the value as JSON text. Tuples become arrays.

    Raises:
        TypeError: for a value that JSON does not have, and for names that are not strings.
        ValueError: for NaN, infinities, unpaired surrogates, and values deeper than 60 levels.
    """
    pending: list[tuple[str, int, object]] = [("", 0, value)]
    while pending:
        place, depth, item = pending.pop()
        if depth > MAX_DEPTH:
            raise ValueError(
                f"the reply is nested deeper than {MAX_DEPTH} levels, or contains itself"
            )
        if isinstance(item, dict):
            pending.extend(
                (f"{place}/{_name(name, place)}", depth + 1, item[name]) for name in item
            )
        elif isinstance(item, (list, tuple)):
            pending.extend(
                (f"{place}/{index}", depth + 1, member) for index, member in enumerate(item)
            )
        else:
            _check_leaf(item, place)
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _name(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise TypeError(
            f"a name in {_location(place)} is a {type(name).__name__}, expected a string"
        )
    _check_text(name, place)
    return name.replace("~", "~0").replace("/", "~1")


def _check_leaf(leaf: object, place: str) -> None:
    if isinstance(leaf, str):
        _check_text(leaf, place)
    elif isinstance(leaf, float):
        if not math.isfinite(leaf):
            raise ValueError(f"{_location(place)} is {leaf}, which is not a JSON number")
    elif leaf is not None and not isinstance(leaf, (bool, int)):
        raise TypeError(f"{_location(place)} is a {type(leaf).__name__}, which is not a JSON value")


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"{_location(place)} has a lone surrogate, which is not valid text"
        ) from None


def _location(place: str) -> str:
    return f"the reply at {place[:200]}" if place else "the reply"


# --- Loading a tool


class DependencyMissingError(ImportError):
    """The error of a tool that imports a module that is not installed."""


@contextmanager
def loading() -> "Iterator[None]":
    """Convert missing modules to `DependencyMissingError` while a tool's code is imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise DependencyMissingError(str(error)) from error


# --- One request


_REPLY = 3
_MIN_REPLY_DESCRIPTOR = 300
_MAX_TRACEBACK = 16_384


def main(arguments: "list[str]") -> None:
    """Read a request from standard input, reply with the module in `arguments`, and exit."""
    [module] = arguments
    process_id = os.getpid()
    request = json.loads(sys.stdin.buffer.read())
    descriptor = _prepare_descriptors()
    reply = _reply(module, request)
    if os.getpid() == process_id:  # a process that the module forked does not reply
        _write(descriptor, reply)
    _flush()
    # Do not run threads and exit handlers of untrusted code after the reply.
    os._exit(0)


def _prepare_descriptors() -> int:
    """Return the reply descriptor, make standard input empty, and redirect all output to the log.

    The descriptor is changed from 3 to another number, because programs may write to descriptor 3.
    """
    reply = fcntl.fcntl(_REPLY, fcntl.F_DUPFD_CLOEXEC, _MIN_REPLY_DESCRIPTOR)
    os.close(_REPLY)
    null_device = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return reply


def _reply(module: str, request: object) -> bytes:
    try:
        make_packages(module)
        value = importlib.import_module(module).reply(request)
        return b'{"value":' + json_text(value) + b"}"
    except BaseException as error:  # noqa: BLE001 - untrusted code may raise anything
        return _error(error)


def _error(error: BaseException) -> bytes:
    try:
        message = str(error)
    except BaseException as nested_error:  # noqa: BLE001 - `__str__` of untrusted code
        message = f"the message cannot be read ({type(nested_error).__name__})"
    reply = {"type": type(error).__name__, "message": message, "traceback": _traceback()}
    encodable = {name: text.encode("utf-8", "replace").decode() for name, text in reply.items()}
    return json.dumps(encodable).encode("ascii")


def _traceback() -> str:
    try:
        import traceback  # noqa: PLC0415 - costs 4 ms, and most calls need none

        return traceback.format_exc()[-_MAX_TRACEBACK:]
    except BaseException as nested_error:  # noqa: BLE001 - it quotes source code that the tool may change
        return f"the traceback cannot be written ({type(nested_error).__name__})"


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # the reply has been sent, so an error cannot be reported
            stream.flush()
