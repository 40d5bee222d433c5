"""Values that users pass to a command: JSON as text, in a file or on stdin, and secrets."""

import sys
from pathlib import Path
from typing import Any

import click

from nexus_tools.cli.framework.output.interrupts import interruptible
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark


def read_option(text: str, option: str) -> Any:
    """Return the JSON value of an option: literal, `@FILE`, or `-` for stdin.

    Raises `json_invalid`.
    """
    if text == "-" or text.startswith("@"):
        return read_json(text.removeprefix("@"))
    try:
        return _parse(text.encode(), option)
    except ValidationError as error:
        error.hint = f"Quote the JSON for the shell, as in '{{\"a\": 1}}', or use {option} @FILE."
        raise


def read_json(name: str) -> Any:
    """Return the JSON in a file, or on stdin for `-`.

    Raises `output_file_unreadable` or `json_invalid`.
    """
    return _parse(read_bytes(name), "stdin" if name == "-" else name)


def read_bytes(name: str, limit: int = -1) -> bytes:
    """Return the content of a file, or of stdin for `-`, without a byte order mark.

    If `limit` is not negative, read at most that many bytes. Raises `output_file_unreadable`.
    """
    if name == "-":
        with interruptible():
            return without_byte_order_mark(sys.stdin.buffer.read(limit))
    try:
        with Path(name).expanduser().open("rb") as file:
            return without_byte_order_mark(file.read(limit))
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise UsageError("output_file_unreadable", message) from error


def read_secret(name: str) -> str:
    """Read a secret from a hidden prompt, or from a line of stdin if stdin is not a terminal.

    `name` describes the secret in the prompt. Raises `secret_missing`.
    """
    with interruptible():
        if sys.stdin.isatty():
            return str(click.prompt(name, hide_input=True, err=True))
        secret = sys.stdin.readline().rstrip("\r\n")
    if not secret:
        raise UsageError(
            "secret_missing",
            f"missing secret on stdin: {name}",
            hint="Pipe one line for each secret, or run the command in a terminal.",
        )
    return secret


def _parse(data: bytes, source: str) -> Any:
    from nexus_tools.tool import parse_json

    try:
        return parse_json(data)
    except ValidationError as error:
        raise ValidationError(error.code, f"{source}: {error.message}", hint=error.hint) from error
