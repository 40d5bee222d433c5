"""Output of new events until Ctrl-C, one line per event, also across rollbacks of the chain."""

import json
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework.output.output import Output, plain
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.support import units
from nexus_tools.sui.support.untrusted_text import escaped_json

if TYPE_CHECKING:
    from nexus_tools.sui.client import EventFilter, EventRecord, SuiClient

Document = Mapping[str, Any]
"""An event as JSON: `event`, `at_ms`, its transaction, and the fields that it has in Move."""


async def watch(
    client: "SuiClient",
    events: "EventFilter",
    document: "Callable[[EventRecord], Document | None]",
    line: Callable[[Document], str],
    *,
    output: Output,
    subject: str,
) -> None:
    """Print each new event for which `document` returns JSON, as that JSON or as a `line`.

    While the node is unreachable, the function waits, and does not miss events. After a rollback of
    the chain, it prints a message and continues from the last common checkpoint.
    """
    from nexus_tools.sui.client import CHAIN_ROLLED_BACK, Cursor, EventRecord, follow_events

    after = None
    has_started = False
    while True:
        try:
            items = follow_events(client, events, after, timestamps=True)
            async with aclosing(items):
                async for item in items:
                    if not has_started:
                        has_started = True
                        output.note(f"watching {subject}, press Ctrl-C to stop")
                    told = document(item) if isinstance(item, EventRecord) else None
                    if told is not None:
                        text = escaped_json(json.dumps(told, ensure_ascii=False))
                        click.echo(text if output.as_json else plain(line(told)))
        except NotFoundError as error:
            if error.code != CHAIN_ROLLED_BACK:
                raise
            output.note(error.message)
            after = Cursor.after_checkpoint(error.details["common"])


def event_document(record: "EventRecord", event: Any) -> dict[str, Any]:
    """Return an event as JSON, with bytes as hex."""
    from msgspec.structs import asdict

    return {
        "event": type(event).__name__,
        "at_ms": record.timestamp_ms,
        "transaction": str(record.transaction_digest),
        **{key: _as_json(value) for key, value in asdict(event).items()},
    }


def _as_json(value: Any) -> Any:
    from msgspec.structs import asdict

    from nexus_tools.sui.bindings.runtime import MoveStruct, MoveVariant
    from nexus_tools.sui.types.address import Address

    if isinstance(value, tuple | list):
        return [_as_json(item) for item in value]
    if isinstance(value, bytes) and not isinstance(value, Address):
        return value.hex()
    if isinstance(value, MoveVariant):
        return {type(value).__name__: {key: _as_json(item) for key, item in asdict(value).items()}}
    if isinstance(value, MoveStruct):
        return {key: _as_json(item) for key, item in asdict(value).items()}
    return value if isinstance(value, str | int | None) else str(value)


def event_line(told: Document, subject: str, *, hidden: tuple[str, ...]) -> str:
    """Return an event as one line: its time, subject, name, and the fields that are not hidden."""
    facts = {
        key: value
        for key, value in told.items()
        if key not in ("event", "at_ms", *hidden) and value not in (None, "", [])
    }
    words = (
        f"{key.replace('_', ' ')} {_word(value)}" for key, value in units.in_words(facts).items()
    )
    when = units.utc(told["at_ms"] or 0)
    return f"{when}  {subject}  {told['event']}  {', '.join(words)}"


def _word(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
