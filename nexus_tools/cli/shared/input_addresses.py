"""Resolution of key aliases in inputs that are accounts."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NexusError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import PublishedWorkflow

Schema = Mapping[str, Any]


def with_addresses(session: Session, ports: Mapping[str, Schema], inputs: Any) -> Any:
    """Return inputs with aliases replaced by addresses, in the ports that take an address.

    Raises the errors of `Session.address_of`, with the name of the input.
    """
    from nexus_tools.tool import is_address_port

    if not isinstance(inputs, dict):
        return inputs  # the validation of inputs reports the error
    found = dict(inputs)
    for name, value in inputs.items():
        if isinstance(value, str) and is_address_port(ports.get(name, {})):
            found[name] = str(_address_of(session, name, value))
    return found


def _address_of(session: Session, name: str, value: str) -> Any:
    try:
        return session.address_of(value)
    except NexusError as error:
        raise ValidationError(
            "input_invalid", f"input {name}: {error.message}", hint=error.hint
        ) from error


async def resolve_workflow_addresses(
    session: Session, nexus: "Nexus", workflow: "PublishedWorkflow", inputs: dict[str, Any]
) -> dict[str, Any]:
    """Return inputs of a workflow with resolved addresses, like `with_addresses`."""
    if not any(isinstance(value, str) for value in inputs.values()):
        return inputs
    found: dict[str, Any] = with_addresses(session, await input_ports(nexus, workflow), inputs)
    return found


async def input_ports(nexus: "Nexus", workflow: "PublishedWorkflow") -> dict[str, Schema]:
    """Return the schema of each input by its name in `--input`."""
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.workflow import entry_names

    schemas: dict[str, Any] = {}
    for tool in await nexus.workflows.find_all(workflow.tools, Tool):
        with suppress(NexusError):  # the registry may contain invalid definitions
            if tool is not None:
                schemas[tool.fqn] = tool.definition.parse().input_schema
    found: dict[str, Schema] = {}
    for group in workflow.document.groups():
        for name, targets in entry_names(workflow.document, group).items():
            ports = schemas.get(workflow.plan.vertices[targets[0].vertex].vertex.fqn, {})
            found[name] = ports.get("properties", {}).get(targets[0].port, {})
    return found
