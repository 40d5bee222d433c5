"""The command `nexus-tools bridge show`, which lists discovered and rejected tools."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.options import BridgeOptions, bridge_options
from nexus_tools.cli.framework import Output, Session, offline_command, plain
from nexus_tools.errors import UsageError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.bridges import BridgedTool, Confinement, Discovery, RejectedTool
    from nexus_tools.tool import ToolFqn

_NAMED = 10


@click.command()
@click.option("--schemas", is_flag=True, help="Print the complete schemas.")
@bridge_options
@offline_command
async def command(session: Session, *, bridge: BridgeOptions, schemas: bool) -> None:
    """Show the tools in PATH..., their ports, and the reason for each rejection.

    The exit code is 7 if no tool can be served, and 2 if no tool matches --only and --exclude.
    """
    with bridge.host(session) as host:
        found = await bridge.discover(session, host)
    if session.output.as_json:
        session.output.document(_document(found))
    else:
        _print(session.output, found, schemas=schemas)
    require_tools(found)


def require_tools(found: "Discovery") -> None:
    """Raise `no_tools` if all discovered tools are rejected or not selected."""
    if not found.tools and found.excluded:
        raise no_match_error(found.excluded)
    if not found.tools:
        count = len(found.rejected)
        raise ValidationError(
            "no_tools",
            f"no tool can be served: {count} {'tool was' if count == 1 else 'tools were'} rejected",
            hint="See the reasons above.",
            details={"rejected": [_refusal(refusal) for refusal in found.rejected]},
        )


def no_match_error(names: "Sequence[ToolFqn]") -> UsageError:
    """Return the error for patterns that match none of the tools."""
    shown = ", ".join(map(str, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    hint = f"Available tools: {shown}{more}." if names else ""
    return UsageError("no_tools", "no tool matches --only and --exclude", hint=hint)


def warn_of_refusals(output: Output, found: "Discovery") -> None:
    """Print rejected tools with their reasons on stderr."""
    for refusal in found.rejected:
        output.warn(plain(f"{refusal.source} is rejected: {refusal.reason}"))
        if refusal.hint:
            output.note(f"  {plain(refusal.hint)}")


def _document(found: "Discovery") -> dict[str, Any]:
    return {
        "tools": [_tool(tool) for tool in found.tools],
        "rejected": [_refusal(refusal) for refusal in found.rejected],
    }


def _tool(tool: "BridgedTool") -> dict[str, Any]:
    return {
        "fqn": str(tool.fqn),
        "system": tool.system,
        "source": tool.source,
        "variables": list(tool.variables),
        "description": tool.description,
        "timeout": tool.timeout_ms,
        "permissions": None if tool.confinement is None else _permissions(tool.confinement),
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def _permissions(confinement: "Confinement") -> dict[str, Any]:
    return {
        "confined": confinement.is_on,
        "reads": [str(place) for place in confinement.reads],
        "writes": [str(place) for place in confinement.may_change],
        "workspace": str(confinement.workspace) if confinement.workspace else None,
        "ports": list(confinement.ports),
        "changes_modes": confinement.changes_modes,
    }


def _permissions_in_words(confinement: "Confinement | None") -> str:
    if confinement is None:
        return "nothing (runs on another machine)"
    if not confinement.is_on:
        return "everything that you can access (no sandbox)"
    parts = [
        *(f"read {place}" for place in confinement.reads),
        *(f"change {place}" for place in confinement.may_change),
        *(f"connect to port {port}" for port in confinement.ports),
    ]
    if confinement.changes_modes:
        parts.append("change modes, owners and times of your files")
    return ", ".join(parts) or "nothing"


def _refusal(refusal: "RejectedTool") -> dict[str, str]:
    return {
        "system": refusal.system,
        "source": refusal.source,
        "reason": refusal.reason,
        "hint": refusal.hint,
    }


def _print(output: Output, found: "Discovery", *, schemas: bool) -> None:
    from nexus_tools.tool import port_summary, variants

    for tool in found.tools:
        summary = plain(tool.description.partition("\n")[0]) or None
        record: dict[str, Any] = {
            "system": tool.system,
            "source": tool.source,
            "description": summary,
        }
        record["access"] = _permissions_in_words(tool.confinement)
        record["variables"] = ", ".join(tool.variables) or None
        if schemas:
            record |= {"input": tool.input_schema, "output": tool.output_schema}
        else:
            record |= {"input": port_summary(tool.input_schema)}
            for name, ports in variants(tool.output_schema).items():
                record[name] = port_summary(ports, tool.output_schema.get("$defs"))
        output.record(record, {name: name for name in record}, title=str(tool.fqn))
    warn_of_refusals(output, found)
