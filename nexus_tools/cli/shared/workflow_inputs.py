"""The option `--input` of commands that take the inputs of a tool or a workflow."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from nexus_tools.cli.framework import read_json, read_option
from nexus_tools.errors import NexusError, UsageError, ValidationError

INPUTS = click.option(
    "--input",
    "inputs",
    metavar="NAME=VALUE|JSON|@FILE|-",
    multiple=True,
    help="Input value. NAME is a port, or VERTEX.PORT of a workflow. VALUE is JSON, text, or @FILE."
    " Alternatively pass all inputs as a JSON object, as @FILE, or on stdin (-). May be repeated.",
)
"""The option of commands that invoke a tool, or run or schedule a workflow."""


def read_inputs(options: Sequence[str]) -> dict[str, Any]:
    """Parse inputs by name. Raises `input_malformed`, `input_duplicate` or `read_option` errors."""
    found: dict[str, Any] = {}
    for option in options:
        for name, value in _named(option).items():
            if name in found:
                raise UsageError("input_duplicate", f"duplicate input {name!r}")
            found[name] = value
    return found


def _named(option: str) -> dict[str, Any]:
    if option.startswith(("{", "[", "@")) or option == "-":
        document = read_option(option, "--input")
        if not isinstance(document, dict):
            raise UsageError(
                "input_malformed", "expected a JSON object that maps input names to values"
            )
        return document
    name, equals, text = option.partition("=")
    if not equals or not name:
        message = f"expected --input NAME=VALUE, got {option[:80]!r}"
        hint = 'Write --input topic=tides, or {"a": 1}.'
        raise UsageError("input_malformed", message, hint=hint)
    return {name: _value(text)}


def _value(text: str) -> Any:
    """Parse a value: JSON, the content of `@FILE`, or else the text itself."""
    if text.startswith("@"):
        return read_json(text.removeprefix("@"))
    from nexus_tools.tool import parse_json

    try:
        return parse_json(text)
    except ValidationError:
        return text


def explained(error: NexusError, given: Mapping[str, Any]) -> NexusError:
    """Return the error with a hint that names an option. `given` maps names to inputs.

    The field `accepts_string` of a failure is true if a string with the JSON text of the value is
    valid.
    """
    if error.code == "input_missing":
        options = " ".join(f"--input {name}=VALUE" for name in error.details["inputs"])
        error.hint = f"Pass {options}."
    if error.code == "group_missing":
        error.hint = "Pass an entry group with --group."
    if error.code == "input_invalid":
        failures = error.details.get("failures", ())
        names = [
            failure.get("input") or failure["pointer"].removeprefix("/")
            for failure in failures
            if failure.get("accepts_string")
        ]
        # A text that looks like JSON is parsed as JSON, which the user may not have intended.
        unquoted = {name for name, value in given.items() if isinstance(value, int | float | None)}
        texts = [name for name in names if name in unquoted]
        if texts:
            quoted = shlex.quote(json.dumps(json.dumps(given.get(texts[0]))))
            as_text = f"To pass it as a string, use --input {texts[0]}={quoted}."
            error.hint = f"{error.hint} {as_text}" if error.hint else as_text
    return error
