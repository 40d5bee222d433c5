"""The command `nexus-tools schema`, which prints or writes the JSON Schemas of users' files."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from nexus_tools import __version__
from nexus_tools.cli.framework import Choice, Session, json_text, offline_command
from nexus_tools.sui.support import units

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file: its title, the names that its files usually have, and its schema.

    `place` is the function that returns the schema, as `module:function`.
    """

    title: str
    files: str
    place: str


KINDS = {
    "tool": FileKind("Tool definition", "*.json", "nexus_tools.tool:definition_file_schema"),
    "workflow": FileKind("Workflow", "workflow.json", "nexus_tools.workflow:workflow_schema"),
    "settings": FileKind(
        "Settings", "config.toml", "nexus_tools.settings.settings_schema:settings_schema"
    ),
    "hyperpocket": FileKind(
        "Hyperpocket bridge",
        "hyperpocket.toml",
        "nexus_tools.cli.bridge.hyperpocket_schema:hyperpocket_schema",
    ),
    "mcp": FileKind("MCP bridge", "mcp.json", "nexus_tools.bridges:mcp_schema"),
}
"""The kinds of files that have a schema, by name."""


def file_schema(name: str) -> dict[str, Any]:
    """Return the schema of a kind of file, with an ID that contains the version."""
    kind = KINDS[name]
    module, _, function = kind.place.partition(":")
    schema: dict[str, Any] = getattr(import_module(module), function)()
    header = {
        "$schema": _DIALECT,
        "$id": f"urn:nexus-tools:{__version__}:schema:{name}",
        "title": kind.title,
    }
    return header | schema


def schema_file(name: str) -> str:
    """Return the name of the file that contains the schema of a kind of file."""
    return f"{name}.schema.json"


def write_schema(name: str, folder: Path) -> Path:
    """Write the schema of a kind of file into a folder, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / schema_file(name)
    path.write_text(json_text(file_schema(name)) + "\n", encoding="utf-8")
    return path


@click.command()
@click.argument("name", type=Choice([*KINDS]), required=False)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the schema to KIND.schema.json in this folder, or write all schemas.",
)
@offline_command
def command(session: Session, name: str | None, output: Path | None) -> None:
    """Print the JSON Schema of a kind of file, or list the kinds.

    Editors that know the schema complete fields, describe them, and mark errors. A file names its
    schema with the key `$schema`. A TOML file names it in the first line: `#:schema PATH`.
    """
    if output is not None:
        written = [str(write_schema(one, output)) for one in ([name] if name else KINDS)]
        session.output.done(f"wrote {units.count(len(written), 'schema')} to {output}")
        if session.output.as_json:
            session.output.document({"files": written})
    elif name is not None:
        session.output.document(file_schema(name))
    else:
        rows = [
            {"name": one, "title": kind.title, "files": kind.files} for one, kind in KINDS.items()
        ]
        columns = {"name": "Name", "title": "Kind of file", "files": "Files"}
        session.output.table(rows, columns, empty="")
