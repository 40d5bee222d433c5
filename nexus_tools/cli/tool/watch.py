"""`nexus-tools tool watch`: what happens to tools, as it happens."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Output, Session, complete_fqns, plain, reads
from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.client import Cursor, EventRecord
    from nexus_tools.nexus import Nexus

# Everybody reads them with `tool show`; in a line they would hide what happened.
_LONG = ("tool", "fqn", "input_schema", "output_schema", "description")


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
    from nexus_tools.tool import ToolFqn

    wanted = [ToolFqn.parse(name) for name in fqn]
    async with session.nexus(signing=False, endures=True) as nexus:
        with session.output.progress("reading the registry"):
            names = {(await nexus.tools.get(name)).fqn for name in wanted}
        await _follow(session.output, nexus, names)


async def _follow(output: Output, nexus: "Nexus", names: set[str]) -> None:
    from nexus_tools.client import WENT_BACK, Cursor

    after = None
    while True:
        try:
            await _follow_one_chain(output, nexus, names, after)
        except NotFoundError as error:
            if error.code != WENT_BACK:
                raise
            output.note(error.message)
            after = Cursor.after_checkpoint(error.details["common"])


async def _follow_one_chain(
    output: Output, nexus: "Nexus", names: set[str], after: "Cursor | None"
) -> None:
    from nexus_tools.client import EventRecord, follow_events
    from nexus_tools.package import event_filter

    begun = after is not None
    events = follow_events(nexus.client, event_filter(nexus.deployment), after, timestamps=True)
    async with aclosing(events) as items:
        async for item in items:
            if not begun:
                begun = True
                output.note(f"watching {', '.join(sorted(names)) or 'all tools'}, until Ctrl-C")
            document = _document(nexus, item) if isinstance(item, EventRecord) else None
            if document is not None and (not names or document["fqn"] in names):
                _print(output, document)


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


def _word(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _print(output: Output, document: dict[str, Any]) -> None:
    if output.as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    facts = {
        key: value
        for key, value in document.items()
        if key not in (*_LONG, "event", "at_ms", "digest") and value not in (None, "", [])
    }
    words = (
        f"{key.replace('_', ' ')} {_word(value)}" for key, value in units.in_words(facts).items()
    )
    line = f"{units.utc(document['at_ms'] or 0)}  {document['fqn']}  {document['event']}  "
    click.echo(plain(line + ", ".join(words)))
