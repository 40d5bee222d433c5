"""The command `nexus-tools workflow validate`."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, complete_files, network_command, plain
from nexus_tools.cli.tool.proof import CHECK_DOMAIN
from nexus_tools.cli.workflow.registered_tools import registered_tools
from nexus_tools.cli.workflow.tool_sources import ToolSources, tool_source_options
from nexus_tools.cli.workflow.workflow_file import read_workflow
from nexus_tools.sui.support import units
from nexus_tools.sui.support.suggestions import suggestion

if TYPE_CHECKING:
    from nexus_tools.tool import ToolDefinition
    from nexus_tools.workflow import Document

_MOST_LISTED = 5
_ALIKE = 0.9


@click.command()
@click.argument("file", shell_complete=complete_files)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--registry", is_flag=True, help="Check the workflow against the registered tools.")
@CHECK_DOMAIN
@tool_source_options
@network_command
async def command(
    session: Session,
    file: str,
    *,
    strict: bool,
    registry: bool,
    query_domain: bool | None,
    sources: ToolSources,
) -> None:
    """Validate the workflow in FILE.

    FILE is a JSON document (`-` for stdin), a folder with a `workflow.json`, or a Python file with
    a `Workflow`. `report.py:flow` selects one of several workflows. The command lists each
    violation with its rule, its location in the file, and a JSON pointer.

    With --tools or --url, the command compares the ports and variants in the document with the
    tools. With --registry, the command also compares them with the registered tools. Registered
    tools must be active, accept common leaders, sign answers where required, and have owners that
    their domains confirm. The exit code is 7 if the workflow has an error.
    """
    with session.output.progress(f"checking {file}"):
        async with sources.open() as (definitions, _):
            found = read_workflow(file, definitions, strict=strict)
    if registry and found.document is not None:
        from nexus_tools.workflow import lint_interfaces

        facts = await registered_tools(session, found.document, query_domain)
        found = found.with_violations(lint_interfaces(found.document, facts))
    found.print_violations(session.output)
    unknown = [] if registry else _unknown(found.document, definitions)
    if session.output.as_json:
        told = {"file": file, "valid": not found.errors, "violations": found.rows}
        session.output.document(told | ({"not_compared": unknown} if definitions else {}))
    if definitions and unknown:
        session.output.warn(_not_compared(unknown, definitions))
    if found.document is None or found.errors:
        raise found.invalid()
    document = found.document
    session.output.done(
        f"{file} is valid: {units.count(len(document.vertices), 'vertex', 'vertices')},"
        f" {units.count(len(document.edges), 'edge')}"
    )
    if not session.output.as_json and file != "-":
        session.output.note(f"next: {_simulated(file, document, sources)}")


def _unknown(document: "Document | None", definitions: "Mapping[str, ToolDefinition]") -> list[str]:
    """Return the tools of a workflow that have no known definition."""
    from nexus_tools.workflow import WAITING_TOOLS

    fqns = (vertex.fqn for vertex in document.vertices) if document else ()
    known = {*definitions, *WAITING_TOOLS}
    return [fqn for fqn in dict.fromkeys(fqns) if fqn not in known]


def _not_compared(unknown: "Sequence[str]", definitions: "Mapping[str, ToolDefinition]") -> str:
    listed = ", ".join(_with_meant(fqn, definitions) for fqn in unknown[:_MOST_LISTED])
    more = f" and {len(unknown) - _MOST_LISTED} more" if len(unknown) > _MOST_LISTED else ""
    return plain(f"tools not compared, because their definitions are missing: {listed}{more}.")


def _with_meant(fqn: str, definitions: "Mapping[str, ToolDefinition]") -> str:
    """Return an FQN, with a suggestion if it looks like a misspelled known FQN."""
    meant = suggestion(fqn, definitions, cutoff=_ALIKE)
    return f"{fqn} ({meant[0].lower()}{meant[1:]})" if meant else fqn


def _simulated(file: str, document: "Document", sources: ToolSources) -> str:
    """Return the command that simulates the workflow, with placeholders for input values."""
    from nexus_tools.workflow import needed_names

    group, *others = document.groups()
    words = ["nexus-tools", "workflow", "simulate", shlex.quote(file)]
    words += ["--group", shlex.quote(group.name)] if others else []
    for name in needed_names(document, group):
        words += ["--input", f"{shlex.quote(name)}=…"]
    return plain(" ".join((*words, *sources.typed())))
