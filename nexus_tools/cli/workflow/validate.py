"""`nexus-tools workflow validate`: whether a workflow keeps the rules."""

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, complete_files, reads
from nexus_tools.cli.tool.proof import ASK_DOMAIN
from nexus_tools.cli.workflow.registered_tools import registered_tools
from nexus_tools.cli.workflow.tool_sources import ToolSources, takes_tools
from nexus_tools.cli.workflow.workflow_file import read_workflow


@click.command()
@click.argument("file", shell_complete=complete_files)
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@click.option("--registry", is_flag=True, help="Check it against the tools that are registered.")
@ASK_DOMAIN
@takes_tools
@reads
async def command(
    session: Session,
    file: str,
    *,
    strict: bool,
    registry: bool,
    ask: bool | None,
    sources: ToolSources,
) -> None:
    """Check whether the workflow in FILE keeps the rules.

    FILE is a JSON document, on stdin for `-`, a folder with a `workflow.json`, or a Python file
    with a `Workflow`; `report.py:flow` names one of several. Each violation is shown with its rule,
    its place in the file and a JSON pointer. Where tools are named, it is checked besides whether
    they have the ports and variants that the document uses; with --registry also whether they are
    active, accept leaders in common, sign where they have to, and belong to whom their domains say.
    The exit code is 7 if there is an error.
    """
    with session.output.progress(f"checking {file}"):
        async with sources.open() as (definitions, _):
            found = read_workflow(file, definitions, strict=strict)
    if registry and found.document is not None:
        from nexus_tools.workflow import lint_interfaces

        facts = await registered_tools(session, found.document, ask)
        found = found.with_violations(lint_interfaces(found.document, facts))
    found.print_violations(session.output)
    if session.output.as_json:
        session.output.document({"file": file, "valid": not found.errors, "violations": found.rows})
    if found.document is None or found.errors:
        raise found.invalid()
    document = found.document
    session.output.done(
        f"{file} is valid: {units.count(len(document.vertices), 'vertex', 'vertices')},"
        f" {units.count(len(document.edges), 'edge')}"
    )
    if not session.output.as_json:
        session.output.note(f"next: nexus-tools workflow simulate {file}")
