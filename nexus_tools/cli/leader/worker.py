"""The command group `nexus-tools leader worker`."""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import ACCOUNT, Session, reads, writes
from nexus_tools.cli.leader.own import LEADER, act, own_leader
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry


@click.group()
def command() -> None:
    """Manage the keys that close invocations for a leader. Workers have no other rights."""


@command.command()
@click.argument("who", metavar="ADDRESS|ALIAS", type=ACCOUNT)
@LEADER
@writes
async def add(session: Session, who: str, which: str | None) -> None:
    """Add a worker to the leader."""
    await _change(session, who, which, is_worker=True)


@command.command()
@click.argument("who", metavar="ADDRESS|ALIAS", type=ACCOUNT)
@LEADER
@writes
async def remove(session: Session, who: str, which: str | None) -> None:
    """Remove a worker from the leader."""
    await _change(session, who, which, is_worker=False)


@command.command("list")
@LEADER
@reads
async def list_workers(session: Session, which: str | None) -> None:
    """List the workers of the leader and their balances."""
    async with session.nexus(signing=False) as nexus:
        leaders = nexus.leaders
        found = await own_leader(session, leaders, which)
        balances = await asyncio.gather(*map(leaders.client.balance, found.workers.entries))
    rows: list[dict[str, Any]] = [
        {"worker": str(worker), "balance_mist": balance}
        for worker, balance in zip(found.workers.entries, balances, strict=True)
    ]
    if not session.output.as_json:
        rows = [units.in_words(row) for row in rows]
    columns = {"worker": "Worker", "balance": "Balance"}
    session.output.table(rows, columns, empty=f"the leader {found.name} has no workers")


async def _change(session: Session, who: str, which: str | None, *, is_worker: bool) -> None:
    worker = session.address_of(who)

    def tell(_: "LeaderRegistry", __: "Sent", whose: str) -> tuple[str, dict[str, Any]]:
        works = "is now a worker" if is_worker else "is no longer a worker"
        return f"{who} {works} of {whose}", {"worker": str(worker)}

    await act(
        session,
        which,
        lambda leaders, leader: (
            leaders.add_worker(leader, worker)
            if is_worker
            else leaders.remove_worker(leader, worker)
        ),
        tell,
    )
