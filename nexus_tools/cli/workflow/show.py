"""`nexus-tools workflow show`: a published workflow, or an execution."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, complete_fqns, json_text, plain, reads
from nexus_tools.cli.workflow.execution_view import show_execution

if TYPE_CHECKING:
    from nexus_tools.registry import PublishedWorkflow

_LABELS = {
    "fqn": "workflow",
    "workflow": "id",
    "description": "description",
    "vertices": "vertices",
    "edges": "edges",
    "tools": "tools",
    "groups": "entry groups",
    "inputs": "inputs",
    "outputs": "outputs",
    "digest": "digest",
}


@click.command()
@click.argument("fqn", metavar="FQN|EXECUTION", shell_complete=complete_fqns)
@click.option("--document", "as_document", is_flag=True, help="Print its document alone, as JSON.")
@reads
async def command(session: Session, *, fqn: str, as_document: bool) -> None:
    """Show the published workflow FQN, or an EXECUTION by its id.

    What is on chain is checked first: that it executes what its document says. Of an execution, it
    shows how far it is, why walks failed, and what it came to.
    """
    if fqn.startswith("0x"):
        await show_execution(session, fqn)
        return
    async with session.nexus(signing=False) as nexus:
        with session.output.progress(f"reading {fqn}"):
            found = await nexus.workflows.get(fqn)
    output = session.output
    if as_document:
        click.echo(json_text(found.document.as_json()))
        return
    if output.as_json:
        record = _record(found)
        output.document(record | {"document": found.document.as_json()})
        return
    words = {key: _in_words(value) for key, value in _record(found).items()}
    output.record(words, _LABELS)
    output.note(f"its document: nexus-tools workflow show {fqn} --document > workflow.json")


def _record(found: "PublishedWorkflow") -> dict[str, Any]:
    document = found.document
    return {
        "fqn": str(found.fqn),
        "workflow": str(found.id),
        "description": found.description,
        "vertices": len(document.vertices),
        "edges": len(document.edges),
        "tools": list(found.fqns),
        "groups": [group.name for group in document.groups()],
        "inputs": [
            f"{vertex.name}.{port}" for vertex in document.vertices for port in vertex.entry_ports
        ],
        "outputs": [each.name or str(each.source) for each in document.outputs],
        "digest": document.digest().hex(),
    }


def _in_words(value: Any) -> str:
    if not isinstance(value, list):
        return plain(str(value))
    shown = ", ".join(map(plain, value[:10]))
    more = len(value) - 10
    return f"{shown} and {units.count(more, 'other')}" if more > 0 else shown
