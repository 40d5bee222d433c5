"""`nexus-tools workflow new`: a workflow to start from, as a project or as one file."""

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
from nexus_tools.errors import UsageError

_DOCUMENT = "workflow.json"


@click.command()
@click.argument("place", metavar="FOLDER|FILE", type=click.Path(path_type=Path))
@local
def command(session: Session, place: Path) -> None:
    """Write a small workflow, with its tools and stubs into a FOLDER, or alone into a FILE.json.

    It is valid and can be simulated as it is.
    """
    template = files("nexus_tools.cli.workflow") / "template"
    if place.suffix == ".json":
        if place.exists():
            raise UsageError("file_exists", f"{place} exists", hint="name another file")
        place.parent.mkdir(parents=True, exist_ok=True)
        text = filled_in(template / f"{_DOCUMENT}.template", {})
        place.write_text(text, encoding="utf-8")
        written, document, tools = [place], place, ""
    else:
        check_empty(place, hint="name another folder, or a file that ends with .json")
        written = write_template(template, place, {"project": place.resolve().name})
        document, tools = place / _DOCUMENT, f" --tools {place / 'tools.py'}"
    session.output.done(f"wrote the workflow {document}")
    if session.output.as_json:
        paths = [str(path) for path in written]
        session.output.document({"workflow": str(document), "files": paths})
        return
    session.output.note(
        f"next: nexus-tools workflow simulate {document} --input names=Ada,Grace{tools}"
    )
