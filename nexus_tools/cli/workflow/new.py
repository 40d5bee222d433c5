"""The command `nexus-tools workflow new`, which creates a project or a file."""

import re
import shlex
from importlib.resources import files
from pathlib import Path

import click

from nexus_tools.cli.framework import (
    Session,
    check_empty,
    offline_command,
    render_template,
    write_template,
)
from nexus_tools.cli.schema import schema_file, write_schema
from nexus_tools.cli.workflow.workflow_file import DOCUMENT
from nexus_tools.errors import UsageError

_DOMAIN = "xyz.example"
_NO_LABEL = "example"


@click.command()
@click.argument("place", metavar="FOLDER|FILE", type=click.Path(path_type=Path))
@offline_command
def command(session: Session, place: Path) -> None:
    """Create an example workflow: a FOLDER with its tools and stubs, or a single FILE.

    FILE.json is a document, and FILE.py is a program that builds a document. The example splits a
    text, changes each part, and joins the results. You can simulate the example without changes.
    Its tools have FQNs with the name of the folder or file, for example xyz.example.NAME.split@1.
    """
    name = _label(place)
    values = {"name": name, "fqn": f"{_DOMAIN}.{name}"}
    template = files("nexus_tools.cli.workflow") / "template"
    alone = {".json": template / "project" / f"{DOCUMENT}.template"}
    alone[".py"] = template / "workflow.py.template"
    if place.suffix in alone:
        if place.exists():
            raise UsageError("file_exists", f"{place} already exists", hint="Choose another file.")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render_template(alone[place.suffix], values), encoding="utf-8")
        written, workflow, tools = [place], place, ""
        if place.suffix == ".json":
            written += _schema(place.parent)
    else:
        check_empty(place, hint="choose another folder, or a file with the suffix .json or .py.")
        written = [*write_template(template / "project", place, values), *_schema(place)]
        workflow = place / DOCUMENT
        tools = f" --tools {shlex.quote(str(place / 'tools.py'))}"
    session.output.done(f"created the workflow {workflow}")
    if session.output.as_json:
        paths = [str(path) for path in written]
        session.output.document({"workflow": str(workflow), "files": paths})
        return
    shown = shlex.quote(str(workflow))
    session.output.note(f"next: nexus-tools workflow simulate {shown} --input text=one,two{tools}")


def _schema(folder: Path) -> list[Path]:
    """Write the schema for editors beside a document, unless the file exists."""
    return [] if (folder / schema_file("workflow")).exists() else [write_schema("workflow", folder)]


def _label(place: Path) -> str:
    """Return an FQN label from the name of a folder or file, which may contain any character."""
    label = re.sub("[^a-z0-9_]+", "-", place.resolve().stem.lower()).strip("-")
    return label if re.fullmatch("[a-z][a-z0-9_-]{1,39}", label) else _NO_LABEL
