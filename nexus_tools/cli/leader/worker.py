"""The command group `nexus-tools leader worker`."""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import ACCOUNT, Session, network_command, transaction_command
from nexus_tools.cli.leader.own import LEADER, change_leader, own_leader
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry


@click.group()
def command() -> None:
    """Manage the keys that close invocations for a leader. Workers have no other rights."""


@command.command()
@click.argument("account", metavar="ADDRESS|ALIAS", type=ACCOUNT)
@LEADER
@transaction_command
async def add(session: Session, account: str, leader_name: str | None) -> None:
    """Add a worker to the leader."""
    await _change(session, account, leader_name, is_worker=True)


@command.command()
@click.argument("account", metavar="ADDRESS|ALIAS", type=ACCOUNT)
@LEADER
@transaction_command
async def remove(session: Session, account: str, leader_name: str | None) -> None:
    """Remove a worker from the leader."""
    await _change(session, account, leader_name, is_worker=False)


@command.command("list")
@LEADER
@network_command
async def list_workers(session: Session, leader_name: str | None) -> None:
    """List the workers of the leader and their balances."""
    async with session.nexus(signing=False) as nexus:
        leaders = nexus.leaders
        found = await own_leader(session, leaders, leader_name)
        balances = await asyncio.gather(*map(leaders.client.balance, found.workers.entries))
    rows: list[dict[str, Any]] = [
        {"worker": str(worker), "balance_mist": balance}
        for worker, balance in zip(found.workers.entries, balances, strict=True)
    ]
    if not session.output.as_json:
        rows = [units.in_words(row) for row in rows]
    columns = {"worker": "Worker", "balance": "Balance"}
    session.output.table(rows, columns, empty=f"the leader {found.name} has no workers")


async def _change(
    session: Session, account: str, leader_name: str | None, *, is_worker: bool
) -> None:
    worker = session.address_of(account)

    def describe(_: "LeaderRegistry", __: "Sent", subject: str) -> tuple[str, dict[str, Any]]:
        works = "is now a worker" if is_worker else "is no longer a worker"
        return f"{account} {works} of {subject}", {"worker": str(worker)}

    await change_leader(
        session,
        leader_name,
        lambda leaders, leader: (
            leaders.add_worker(leader, worker)
            if is_worker
            else leaders.remove_worker(leader, worker)
        ),
        describe,
    )
