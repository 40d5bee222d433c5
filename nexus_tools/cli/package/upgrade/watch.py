"""The command `package upgrade watch`, which follows events of locked packages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, event_document, event_line, query_command, watch
from nexus_tools.cli.package.lock import require_lock_package

if TYPE_CHECKING:
    from nexus_tools.contracts import UpgradeLocks
    from nexus_tools.sui.client import EventRecord


@click.command()
@click.argument("package", nargs=-1)
@query_command
async def command(session: Session, package: tuple[str, ...]) -> None:
    """Follow the events of the locks of PACKAGE... until Ctrl-C. Default: all packages.

    For a proposal, the command shows the time from which anyone can execute it. You have 14 days to
    review the proposal, or to withdraw your funds. While the node is unreachable, the command
    waits, and does not miss events. After a rollback of the chain, it prints a message and
    continues.

    With --json, each line is a JSON document with `event`, `at_ms`, `transaction` and the fields of
    the Move event.
    """
    from nexus_tools.sui.types.address import Address

    async with session.client(keeps_running=True) as client:
        locks = await require_lock_package(session, client)
        wanted = {
            str((await client.package_versions(Address.parse(package_id)))[0])
            for package_id in package
        }

        def document(record: "EventRecord") -> dict[str, Any] | None:
            told = _document(locks, record)
            return told if told and (not wanted or told["package"] in wanted) else None

        subject = ", ".join(sorted(wanted)) or "all locked packages"
        await watch(client, locks.events(), document, _line, output=session.output, subject=subject)


def _document(locks: "UpgradeLocks", record: "EventRecord") -> dict[str, Any] | None:
    """Return the event as JSON, or None if a lock did not emit it."""
    event = locks.parse_event(record.event)
    return None if event is None else event_document(record, event)


def _line(told: Mapping[str, Any]) -> str:
    return event_line(told, told["package"], hidden=("transaction", "package", "lock"))
