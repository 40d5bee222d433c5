"""`nexus-tools package upgrade watch`: what happens to locked packages, as it happens."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Output, Session, plain, reads
from nexus_tools.cli.package.lock import known_locks

if TYPE_CHECKING:
    from nexus_tools.client import EventRecord
    from nexus_tools.package import UpgradeLocks


@click.command()
@click.argument("package", nargs=-1)
@reads
async def command(session: Session, package: tuple[str, ...]) -> None:
    """Follow what happens to the locks of PACKAGE... until Ctrl-C; without one, of all packages.

    A proposal is told with the time from which on it can be executed: 14 days are there to read
    it, and to leave. With --json a document on each line: `event`, `at_ms`, `transaction` and
    the fields of the Move event.
    """
    from nexus_tools.client import EventRecord, follow_events
    from nexus_tools.sui.address import Address

    async with session.client(endures=True) as client:
        locks = await known_locks(session, client)
        wanted = {str((await client.package_versions(Address.parse(each)))[0]) for each in package}
        begun = False
        async with aclosing(follow_events(client, locks.events(), timestamps=True)) as items:
            async for item in items:
                if not begun:
                    begun = True
                    told = ", ".join(sorted(wanted)) or "all locked packages"
                    session.output.note(f"watching {told}, until Ctrl-C")
                document = _document(locks, item) if isinstance(item, EventRecord) else None
                if document and (not wanted or document["package"] in wanted):
                    _print(session.output, document)


def _document(locks: "UpgradeLocks", record: "EventRecord") -> dict[str, Any] | None:
    """The event as JSON; None if it is none that a lock emits."""
    from msgspec.structs import asdict

    event = locks.parse_event(record.event)
    if event is None:
        return None
    return {
        "event": type(event).__name__,
        "at_ms": record.timestamp_ms,
        "transaction": str(record.transaction_digest),
        **{key: _json(value) for key, value in asdict(event).items()},
    }


def _json(value: Any) -> Any:
    from nexus_tools.sui.address import Address

    if isinstance(value, bytes) and not isinstance(value, Address):
        return value.hex()
    return value if isinstance(value, str | int) else str(value)


def _print(output: Output, document: dict[str, Any]) -> None:
    if output.as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    said = ("event", "at_ms", "transaction", "package", "lock")
    facts = {key: value for key, value in document.items() if key not in said}
    words = (f"{key.replace('_', ' ')} {value}" for key, value in units.in_words(facts).items())
    line = f"{units.utc(document['at_ms'] or 0)}  {document['package']}  {document['event']}  "
    click.echo(plain(line + ", ".join(words)))
