"""The command `nexus-tools tool watch`, which follows events of tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Session,
    complete_fqns,
    event_document,
    event_line,
    query_command,
    watch,
)

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.client import EventRecord
    from nexus_tools.tool import ToolFqn

# The line of an event omits these fields, because some are long. `tool show` shows these fields.
_HIDDEN = ("transaction", "tool", "object", "fqn", "description")


@click.command()
@click.argument("fqn", nargs=-1, shell_complete=complete_fqns)
@query_command
async def command(session: Session, fqn: tuple[str, ...]) -> None:
    """Follow the events of the tools FQN... until Ctrl-C. Default: all tools.

    The command prints a line for each invocation, outcome, update, and change of collateral. While
    the node is unreachable, the command waits, and does not miss events. After a rollback of the
    chain, it prints a message and continues.

    With --json, each line is a JSON document with `event`, `at_ms`, `transaction`, `fqn` and the
    fields of the Move event.
    """
    from nexus_tools.contracts import event_filter
    from nexus_tools.tool import ToolFqn

    wanted = [ToolFqn.parse(name) for name in fqn]
    async with session.nexus(signing=False, keeps_running=True) as nexus:
        with session.output.progress("reading the registry"):
            known = await _known(nexus, wanted)
        names = {str(name) for name in wanted}

        def document(record: "EventRecord") -> dict[str, Any] | None:
            told = _document(nexus, record, known)
            return told if told and (not names or told["fqn"] in names) else None

        events = event_filter(nexus.deployment)
        subject = ", ".join(sorted(names)) or "all tools"
        await watch(nexus.client, events, document, _line, output=session.output, subject=subject)


async def _known(nexus: "Nexus", wanted: "list[ToolFqn]") -> dict[str, str]:
    """Return the FQNs of the tools by ID, because events of collateral only have the ID."""
    for name in wanted:
        await nexus.tools.get(name)
    if wanted:
        fqns = tuple(wanted)
    else:
        state = await nexus.tools.state()
        fqns = await nexus.tools.fqns(state, 0, state.fqns.size)
    from nexus_tools.contracts import tool_id

    registry = nexus.deployment.tool_registry
    return {str(tool_id(registry, fqn)): str(fqn) for fqn in fqns}


def _document(
    nexus: "Nexus", record: "EventRecord", known: dict[str, str]
) -> dict[str, Any] | None:
    """Return the event as JSON with its fields, or None if it does not concern a tool."""
    from nexus_tools.contracts import parse_event

    event: Any = parse_event(nexus.deployment, record.event)
    if event is None:
        return None
    told = event_document(record, event)
    if "tool" in told:
        known[told["tool"]] = told["fqn"]
    elif (fqn := known.get(told.get("object", ""))) is not None:
        told["fqn"] = fqn
    else:  # an event of a leader, a workflow or the registry
        return None
    return told


def _line(told: Mapping[str, Any]) -> str:
    return event_line(told, told["fqn"], hidden=_HIDDEN)
