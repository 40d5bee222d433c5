"""The command `nexus-tools leader status`."""

import asyncio

import click

from nexus_tools.cli.framework import Session, network_command
from nexus_tools.cli.leader.funds import shortages
from nexus_tools.cli.leader.own import LEADER
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_with_records
from nexus_tools.cli.shared.collateral import find_suspensions

_COLUMNS = COLUMNS | {
    "claimable": "Claimable",
    "slash": "Pending slash",
    "pending_owner": "Offered to",
    "workers": "Workers",
    "balance": "Lowest worker balance",
}


@click.command()
@LEADER
@network_command
async def command(session: Session, leader_name: str | None) -> None:
    """Show the wallet's leaders: state, collateral, track record and workers.

    A worker pays the gas of the invocations that it closes, so keep enough SUI in its balance to
    pay for gas. `Missed` counts only invocations that this wallet requested and the leader did not
    close in time. The Leader's metric `nexus_leader_invocations_closed_total` counts all of them.
    """
    from nexus_tools.sui.types.address import Address

    async with session.nexus(signing=False) as nexus:
        leaders = nexus.leaders
        with session.output.progress("reading the registry"):
            found = await leaders.owned_by(session.own_address())
            if leader_name is not None:
                found = (await leaders.find(leader_name, found),)
            rows = await leaders_with_records(session, leaders, found)
            slashed = await find_suspensions(leaders, found)
            poor = await shortages(leaders.client, found)
            for row in rows:
                balances = await asyncio.gather(
                    *(leaders.client.balance(Address.parse(worker)) for worker in row["workers"])
                )
                row["balance_mist"] = min(balances, default=None)
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    empty = "the wallet does not own any leaders. Run `nexus-tools leader register` to register one"
    session.output.table(rows, _COLUMNS, empty=empty, as_records=True)
    for shortage in (*slashed, *poor):
        session.output.warn(str(shortage))
