"""`nexus-tools workflow new`: a workflow to start from, as a project or as one file."""

import re
import shlex
from importlib.resources import files
from pathlib import Path

import click

from nexus_tools.cli.framework import (
    Session,
    check_empty,
    filled_in,
    local,
    write_template,
)
from nexus_tools.cli.workflow.workflow_file import DOCUMENT
from nexus_tools.errors import UsageError

_DOMAIN = "xyz.example"
_NO_LABEL = "example"


@click.command()
@click.argument("place", metavar="FOLDER|FILE", type=click.Path(path_type=Path))
@local
def command(session: Session, place: Path) -> None:
    """Write an example workflow, with its tools and stubs into a FOLDER, or alone into a FILE.

    FILE.json is a document, FILE.py a program that makes one. It is valid and can be simulated as
    it is: it splits a text, changes each part, and joins the results. Its tools have the name of
    the folder or file in their FQNs, as xyz.example.NAME.split@1, and are yours to change.
    """
    name = _label(place)
    values = {"name": name, "fqn": f"{_DOMAIN}.{name}"}
    template = files("nexus_tools.cli.workflow") / "template"
    alone = {".json": template / "project" / f"{DOCUMENT}.template"}
    alone[".py"] = template / "workflow.py.template"
    if place.suffix in alone:
        if place.exists():
            raise UsageError("file_exists", f"{place} exists", hint="name another file")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(filled_in(alone[place.suffix], values), encoding="utf-8")
        written, workflow, tools = [place], place, ""
    else:
        check_empty(place, hint="name another folder, or a file that ends with .json or .py")
        written = write_template(template / "project", place, values)
        workflow = place / DOCUMENT
        tools = f" --tools {shlex.quote(str(place / 'tools.py'))}"
    session.output.done(f"wrote the workflow {workflow}")
    if session.output.as_json:
        paths = [str(path) for path in written]
        session.output.document({"workflow": str(workflow), "files": paths})
        return
    shown = shlex.quote(str(workflow))
    session.output.note(f"next: nexus-tools workflow simulate {shown} --input text=one,two{tools}")


def _label(place: Path) -> str:
    """The name of a folder or file as a label of an FQN, whatever characters it has."""
    label = re.sub("[^a-z0-9_]+", "-", place.resolve().stem.lower()).strip("-")
    return label if re.fullmatch("[a-z][a-z0-9_-]{1,39}", label) else _NO_LABEL
