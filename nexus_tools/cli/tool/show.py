"""`nexus-tools tool show`: one tool."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING

import click

from nexus_tools import units
from nexus_tools.cli.framework import Output, Session, complete_fqns, reads

if TYPE_CHECKING:
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.tool import ToolFqn


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@click.option("--watch", is_flag=True, help="Follow what happens to it, until Ctrl-C.")
@reads
async def command(session: Session, fqn: str, *, watch: bool) -> None:
    """Show the tool FQN: its definition, state, price and collateral.

    With --json and --watch, a document is printed on a line of its own for each change.
    """
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            document = await _read(nexus.tools, name)
        if watch:
            await _watch(session.output, nexus.tools, name)
        else:
            _print(session.output, document)


async def _read(tools: "ToolRegistry", name: "ToolFqn") -> dict[str, object]:
    from nexus_tools.cli.tool.record import tool_document

    return tool_document(await tools.get(name), await tools.client.now_ms())


def _print(output: Output, document: dict[str, object]) -> None:
    from nexus_tools.cli.tool.record import LABELS, for_people, ports

    if output.as_json:
        output.document(document)
        return
    lines = ports(document)
    output.record(for_people(document) | lines, LABELS | {key: key for key in lines})


async def _watch(output: Output, tools: "ToolRegistry", name: "ToolFqn") -> None:
    """Print the tool now, and again after each event that concerns it."""
    from nexus_tools.client import EventRecord, follow_events
    from nexus_tools.package import event_filter, parse_event

    events = follow_events(tools.client, event_filter(tools.deployment), timestamps=True)
    shown = False
    async with aclosing(events) as items:
        async for item in items:
            happened = ""
            if isinstance(item, EventRecord):
                event = parse_event(tools.deployment, item.event)
                if getattr(event, "fqn", None) != str(name):
                    continue
                happened = type(event).__name__
                output.note(f"{units.utc(item.timestamp_ms or 0)}  {happened}")
            elif shown:
                continue
            shown = True
            document = await _read(tools, name)
            if output.as_json:
                click.echo(json.dumps(document | {"event": happened or None}, default=str))
            else:
                _print(output, document)
