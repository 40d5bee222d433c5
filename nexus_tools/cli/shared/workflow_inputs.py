"""The inputs of a tool or a workflow, as users give them to a command."""

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
    help="An input: its name, or VERTEX.PORT of a workflow, and a value as JSON or text, or @FILE;"
    " or all of them as a JSON object: itself, in a file, or on stdin. May be repeated.",
)
"""The option of commands that invoke a tool, execute a workflow, or plan to."""


def read_inputs(options: Sequence[str]) -> dict[str, Any]:
    """Inputs by name. Raises `input_malformed`, `input_twice`, or as `read_option` does."""
    found: dict[str, Any] = {}
    for option in options:
        for name, value in _named(option).items():
            if name in found:
                raise UsageError("input_twice", f"the input {name!r} is given twice")
            found[name] = value
    return found


def _named(option: str) -> dict[str, Any]:
    if option.startswith(("{", "[", "@")) or option == "-":
        document = read_option(option, "--input")
        if not isinstance(document, dict):
            raise UsageError("input_malformed", "inputs are a JSON object, with a value by name")
        return document
    name, equals, text = option.partition("=")
    if not equals or not name:
        message = f"--input {option[:80]} has no name"
        raise UsageError("input_malformed", message, hint='write --input topic=tides or {"a": 1}')
    return {name: _value(text)}


def _value(text: str) -> Any:
    """A value as it is typed: JSON, what a file has for @FILE, or else the text itself."""
    if text.startswith("@"):
        return read_json(text.removeprefix("@"))
    from nexus_tools.tool import parse_json

    try:
        return parse_json(text)
    except ValidationError:
        return text


def explained(error: NexusError, given: Mapping[str, Any]) -> NexusError:
    """The error with the option that helps; `given` are the inputs by name."""
    if error.code == "input_missing":
        options = " ".join(f"--input {name}=…" for name in error.details["inputs"])
        error.hint = f"give {options}"
    if error.code == "group_missing":
        error.hint = "--group names one of them"
    if error.code == "input_invalid":
        failures = error.details.get("failures", ())
        names = [each.get("input") or each["pointer"].removeprefix("/") for each in failures]
        # What is a text and looks like JSON is read as JSON, which somebody may not have meant.
        unquoted = {name for name, value in given.items() if isinstance(value, int | float | None)}
        texts = [name for name in names if name in unquoted]
        if texts:
            quoted = shlex.quote(json.dumps(json.dumps(given.get(texts[0]))))
            as_text = f"to give it as text: --input {texts[0]}={quoted}"
            error.hint = f"{error.hint}; {as_text}" if error.hint else as_text
    return error
