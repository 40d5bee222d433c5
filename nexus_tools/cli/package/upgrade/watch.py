"""`nexus-tools package upgrade watch`: what happens to locked packages, as it happens."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, event_document, event_line, reads, watch
from nexus_tools.cli.package.lock import known_locks

if TYPE_CHECKING:
    from nexus_tools.contracts import UpgradeLocks
    from nexus_tools.sui.client import EventRecord


@click.command()
@click.argument("package", nargs=-1)
@reads
async def command(session: Session, package: tuple[str, ...]) -> None:
    """Follow what happens to the locks of PACKAGE... until Ctrl-C; without one, of all packages.

    A proposal is told with the time from which on it can be executed: 14 days are there to read
    it, and to leave. While the node is away it waits, and misses nothing; when its chain was set
    back, it says so and goes on from there.

    With --json a document on each line: `event`, `at_ms`, `transaction` and the fields of the Move
    event.
    """
    from nexus_tools.sui.types.address import Address

    async with session.client(endures=True) as client:
        locks = await known_locks(session, client)
        wanted = {str((await client.package_versions(Address.parse(each)))[0]) for each in package}

        def document(record: "EventRecord") -> dict[str, Any] | None:
            told = _document(locks, record)
            return told if told and (not wanted or told["package"] in wanted) else None

        subject = ", ".join(sorted(wanted)) or "all locked packages"
        await watch(client, locks.events(), document, _line, output=session.output, subject=subject)


def _document(locks: "UpgradeLocks", record: "EventRecord") -> dict[str, Any] | None:
    """The event as JSON; None if it is none that a lock emits."""
    event = locks.parse_event(record.event)
    return None if event is None else event_document(record, event)


def _line(told: Mapping[str, Any]) -> str:
    return event_line(told, told["package"], hidden=("transaction", "package", "lock"))
