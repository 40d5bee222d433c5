"""What people hand to a command: JSON as text, a file, stdin."""

import sys
from pathlib import Path
from typing import Any

from nexus_tools.cli.framework.interrupts import interruptible
from nexus_tools.errors import UsageError, ValidationError


def read_option(text: str, option: str) -> Any:
    """The JSON that an option gives: itself, `@file` or `-` for stdin. Raises `json_invalid`."""
    if text == "-" or text.startswith("@"):
        return read_json(text.removeprefix("@"))
    return _parse(text.encode(), option)


def read_json(name: str) -> Any:
    """The JSON in a file, or on stdin for `-`. Raises `file_unreadable` or `json_invalid`."""
    return _parse(read_bytes(name), "stdin" if name == "-" else name)


def read_bytes(name: str) -> bytes:
    """What is in a file, or on stdin for `-`. Raises `file_unreadable`."""
    if name == "-":
        with interruptible():
            return sys.stdin.buffer.read()
    try:
        return Path(name).expanduser().read_bytes()
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror}"
        raise UsageError("file_unreadable", message) from error


def _parse(data: bytes, source: str) -> Any:
    from nexus_tools.tool import parse_json

    try:
        return parse_json(data)
    except ValidationError as error:
        raise ValidationError(error.code, f"{source}: {error.message}", hint=error.hint) from error
