"""The command `nexus-tools workflow draw`."""

import shlex
from pathlib import Path

import click

from nexus_tools.cli.framework import Session, complete_files, offline_command, print_drawing
from nexus_tools.cli.workflow.workflow_file import read_workflow
from nexus_tools.errors import UsageError


@click.command()
@click.argument("file", shell_complete=complete_files)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an SVG diagram to this file.",
)
@click.option("--mermaid", is_flag=True, help="Print a Mermaid flowchart.")
@click.option("--terminal", is_flag=True, help="Draw on the terminal, which is the default.")
@offline_command
def command(
    session: Session, file: str, *, svg: Path | None, mermaid: bool, terminal: bool
) -> None:
    """Draw the workflow in FILE. For an invalid workflow, draw the parts that can be drawn.

    FILE is a JSON document, a folder with a `workflow.json`, or a Python file with a `Workflow`.
    """
    if sum((svg is not None, mermaid, terminal)) > 1:
        message = "--svg, --mermaid and --terminal cannot be combined"
        raise UsageError("option_not_applicable", message, hint="Pass only one of them.")
    found = read_workflow(file)
    if found.document is None:
        found.print_violations(session.output, aside=True)
        raise found.invalid()
    if found.errors:
        session.output.warn(
            f"{file} is invalid. Run `nexus-tools workflow validate {shlex.quote(str(file))}`"
        )
    from nexus_tools.workflow import draw_mermaid, draw_svg, draw_terminal

    document = found.document
    if svg is not None:
        svg.write_text(draw_svg(document), encoding="utf-8")
        session.output.done(f"wrote a diagram of {file} to {svg}")
        if session.output.as_json:
            session.output.document({"svg": str(svg)})
    elif session.output.as_json:
        session.output.document({"mermaid": draw_mermaid(document)})
    elif mermaid:
        click.echo(draw_mermaid(document).rstrip("\n"))
    else:
        print_drawing(lambda width: draw_terminal(document, width))
