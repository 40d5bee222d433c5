"""The command `nexus-tools tool new`, which creates a project with a tool and a test."""

import keyword
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, check_empty, offline_command, write_template
from nexus_tools.cli.package.interface import write_interface
from nexus_tools.cli.schema import write_schema
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.tool import ToolFqn

_DEFAULT_DOMAIN = "xyz.example"
# Keywords of Move that are not keywords of Python, and the imports of the package template.
_TAKEN_IN_MOVE = (
    *("abort", "acquires", "const", "copy", "else", "entry", "enum", "friend", "fun", "has"),
    *("invariant", "let", "loop", "macro", "match", "module", "move", "mut", "native", "package"),
    *("phantom", "public", "script", "spec", "struct", "type", "use", "std", "sui"),
    *("nexus_tools", "json", "value", "on_chain_call"),
)
_TEMPLATES = {"python": "template_python", "move": "template_move"}


@click.command()
@click.argument("name")
@click.option("--fqn", help=f"FQN of the tool. Default: {_DEFAULT_DOMAIN}.NAME@1.")
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the project. Default: NAME.",
)
@click.option(
    "--template",
    type=click.Choice(["python", "move"]),
    default="python",
    show_default=True,
    help="Create a Python server, or a Move function that is called on chain.",
)
@offline_command
def command(
    session: Session, name: str, fqn: str | None, directory: Path | None, template: str
) -> None:
    """Create a project with a tool and its test in a new folder.

    The project passes its tests and `nexus-tools tool validate` without changes.
    """
    from nexus_tools.tool import ToolFqn, protocol

    tool = ToolFqn.parse(fqn) if fqn else _of_name(name)
    folder = directory or Path(name)
    check_empty(folder, hint="choose another folder with --directory.")
    values = {
        "project": name,
        "fqn": str(tool),
        "function": _function(tool.name),
        "invoke": protocol.INVOKE,
        "witness": _function(tool.name).upper(),
    }
    written = write_template(files("nexus_tools.cli.tool") / _TEMPLATES[template], folder, values)
    if template == "move":
        written += write_interface(folder / "interface")
        written.append(write_schema("tool", folder))
    session.output.done(f"created the tool {tool} in {folder}")
    if session.output.as_json:
        paths = [str(path) for path in written]
        session.output.document({"fqn": str(tool), "directory": str(folder), "files": paths})
        return
    then = "tool validate ." if template == "move" else "tool serve tools.py"
    session.output.note(f"next: cd {shlex.quote(str(folder))} && nexus-tools {then}")


def _of_name(name: str) -> "ToolFqn":
    """Return the FQN for the name of a tool in the example domain. Raises `fqn_invalid`."""
    from nexus_tools.tool import ToolFqn

    try:
        return ToolFqn.parse(f"{_DEFAULT_DOMAIN}.{name}@1")
    except ValidationError as error:
        raise ValidationError(
            "fqn_invalid",
            f"{name[:80]!r} is not a valid tool name: expected a letter a-z, and at least one more"
            " character of a-z, 0-9, '_' and '-'",
            hint="NAME becomes part of the FQN, like add in math.add@1. Use --fqn to set the whole"
            " FQN, and --directory to set the folder.",
        ) from error


def _function(name: str) -> str:
    """Return a function name without collisions in Python, Move, pytest and the templates."""
    function = name.replace("-", "_")
    taken = ("tool", "tools", "client", "pytest", *_TAKEN_IN_MOVE)
    if keyword.iskeyword(function) or function in taken or function.startswith("test"):
        return f"run_{function}"
    return function
