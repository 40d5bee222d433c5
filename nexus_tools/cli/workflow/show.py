"""The command `nexus-tools workflow show`, for workflows and executions."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, complete_fqns, json_text, network_command, plain
from nexus_tools.cli.shared.input_addresses import input_ports
from nexus_tools.cli.workflow.execution_view import show_execution
from nexus_tools.cli.workflow.run import find_workflow
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import PublishedWorkflow
    from nexus_tools.sui.types.address import Address
    from nexus_tools.workflow import Document, InputPort

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
@click.argument("fqn", metavar="FQN|ID", shell_complete=complete_fqns)
@click.option(
    "--document", "as_document", is_flag=True, help="Print only the workflow document, as JSON."
)
@network_command
async def command(session: Session, *, fqn: str, as_document: bool) -> None:
    """Show a published workflow by its FQN or ID, or an execution by its ID.

    For a workflow, the command first verifies that the on-chain plan matches the document. For an
    execution, it shows the progress, the failures and the results.
    """
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(fqn) if fqn.startswith("0x") else None
    async with session.nexus(signing=False) as nexus:
        if place is not None and not await _is_workflow(nexus, place):
            await show_execution(session, nexus, place)
            return
        with session.output.progress(f"reading {fqn}"):
            found = await find_workflow(nexus, fqn)
            kinds = await _input_kinds(nexus, found)
    output = session.output
    if as_document:
        click.echo(json_text(found.document.as_json()))
        return
    if output.as_json:
        record = _record(found)
        output.document(record | {"document": found.document.as_json()})
        return
    words = {key: _in_words(value) for key, value in (_record(found) | {"inputs": kinds}).items()}
    output.record(words, _LABELS)
    output.note(f"document: nexus-tools workflow show {fqn} --document > workflow.json")


async def _is_workflow(nexus: "Nexus", place: "Address") -> bool:
    from nexus_tools.contracts.move_bindings.workflows.dag import Dag

    found = await nexus.client.object(place)
    return found is not None and found.type == nexus.deployment.type_of(Dag)


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
        "outputs": list(
            dict.fromkeys(output.name or str(output.source) for output in document.outputs)
        ),
        "digest": document.digest().hex(),
    }


def _inputs(document: "Document") -> dict[str, "InputPort"]:
    """Return the input names for `--input`, each with one of the ports that it fills."""
    from nexus_tools.workflow import entry_names, needed_names

    found: dict[str, InputPort] = {}
    for group in document.groups():
        names = entry_names(document, group)
        found |= {name: names[name][0] for name in needed_names(document, group)}
    return found


async def _input_kinds(nexus: "Nexus", workflow: "PublishedWorkflow") -> list[str]:
    """Return the inputs with the types of their ports, like `names: string`."""
    from nexus_tools.tool import port_summary

    ports = await input_ports(nexus, workflow)
    return [
        port_summary({"properties": {name: ports.get(name, {})}, "required": [name]})
        for name in _inputs(workflow.document)
    ]


def _in_words(value: Any) -> str:
    if not isinstance(value, list):
        return plain(str(value))
    shown = ", ".join(map(plain, value[:10]))
    more = len(value) - 10
    return f"{shown} and {units.count(more, 'other')}" if more > 0 else shown
