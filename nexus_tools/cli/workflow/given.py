"""What is given to a workflow on the command line: inputs by name, prices of tools."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import AMOUNT, read_json, read_option
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.spelling import suggestion

if TYPE_CHECKING:
    from nexus_tools.workflow import Document

INPUTS = click.option(
    "--input",
    "inputs",
    metavar="NAME=VALUE|JSON|@FILE|-",
    multiple=True,
    help="An input: its name, or VERTEX.PORT, and a value as JSON or text, or @FILE; or all of"
    " them as a JSON object: itself, in a file, or on stdin.",
)
"""The option of commands that begin a workflow."""


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
    if option.startswith(("{", "@")) or option == "-":
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


def read_prices(option: str, texts: Sequence[str]) -> dict[str, int]:
    """Amounts in MIST by the names that an option gives. Raises `price_malformed`."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals or not name:
            message = f"{option} {text[:80]} has no name"
            hint = f"write {option} xyz.example.sum@1=0.5"
            raise UsageError("price_malformed", message, hint=hint)
        found[name] = AMOUNT.convert(amount, None, None)
    return found


def by_tool(option: str, document: "Document", prices: Mapping[str, int]) -> dict[str, int]:
    """The prices of tools by FQN, which are named so or as a vertex is. Raises `tool_unknown`."""
    fqns = {each.name: each.fqn for each in document.vertices}
    fqns |= {fqn: fqn for fqn in fqns.values()}
    for name in prices.keys() - fqns.keys():
        hint = suggestion(name, fqns, otherwise=f"there is {', '.join(list(fqns)[:10])}")
        message = f"{option} {name[:80]}: the workflow has no such tool, and no such vertex"
        raise UsageError("tool_unknown", message, hint=hint)
    return {fqns[name]: mist for name, mist in prices.items()}


def explained(error: UsageError) -> UsageError:
    """The error with the option that helps."""
    if error.code == "input_missing":
        options = " ".join(f"--input {name}=…" for name in error.details["inputs"])
        error.hint = f"give {options}"
    if error.code == "group_missing":
        error.hint = "--group names one of them"
    return error
