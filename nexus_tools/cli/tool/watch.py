"""`nexus-tools tool watch`: what happens to tools, as it happens."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, complete_fqns, event_line, reads, watch

if TYPE_CHECKING:
    from nexus_tools.client import EventRecord
    from nexus_tools.nexus import Nexus

# Everybody reads the long ones with `tool show`; in a line they would hide what happened.
_HIDDEN = ("digest", "tool", "fqn", "input_schema", "output_schema", "description")


@click.command()
@click.argument("fqn", nargs=-1, shell_complete=complete_fqns)
@reads
async def command(session: Session, fqn: tuple[str, ...]) -> None:
    """Follow what happens to the tools FQN... until Ctrl-C; without one, to all tools.

    Invocations, their outcomes, changes, collateral: a line for each event. While the node is away
    it waits, and misses nothing; when its chain was set back, it says so and goes on from there.

    With --json a document on each line: `event`, `at_ms`, `digest`, `fqn` and the fields of the
    Move event.
    """
    from nexus_tools.package import event_filter
    from nexus_tools.tool import ToolFqn

    wanted = [ToolFqn.parse(name) for name in fqn]
    async with session.nexus(signing=False, endures=True) as nexus:
        with session.output.progress("reading the registry"):
            names = {(await nexus.tools.get(name)).fqn for name in wanted}

        def document(record: "EventRecord") -> dict[str, Any] | None:
            told = _document(nexus, record)
            return told if told and (not names or told["fqn"] in names) else None

        events = event_filter(nexus.deployment)
        subject = ", ".join(sorted(names)) or "all tools"
        await watch(nexus.client, events, document, _line, output=session.output, subject=subject)


def _document(nexus: "Nexus", record: "EventRecord") -> dict[str, Any] | None:
    """The event as JSON, with its fields; None if it is of no tool."""
    from msgspec.structs import asdict

    from nexus_tools.package import parse_event

    event: Any = parse_event(nexus.deployment, record.event)
    if not hasattr(event, "fqn"):
        return None
    fields = {key: _json(value) for key, value in asdict(event).items()}
    return {
        "event": type(event).__name__,
        "at_ms": record.timestamp_ms,
        "digest": str(record.transaction_digest),
        **fields,
    }


def _json(value: Any) -> Any:
    from nexus_tools.sui.address import Address

    if isinstance(value, tuple | list):
        return [_json(each) for each in value]
    if isinstance(value, bytes) and not isinstance(value, Address):
        return value.decode(errors="replace")
    return value if isinstance(value, str | int | None) else str(value)


def _line(told: Mapping[str, Any]) -> str:
    return event_line(told, told["fqn"], hidden=_HIDDEN)
