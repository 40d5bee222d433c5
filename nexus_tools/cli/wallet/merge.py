"""The coins of the key that signs, merged into one."""

import click

from nexus_tools.cli.framework import Session, report, writes
from nexus_tools.sui.support import units


@click.command()
@writes
async def merge(session: Session) -> None:
    """Merge the coins of SUI of the key that signs into one.

    A transaction takes 255 coins to pay with. Commands that need more merge coins by themselves;
    transactions that others sign do not. Gas is paid from the coins. Usually the storage rebate of
    the merged coins is more than the gas. Coins that hold less than the gas of merging them stay.
    """
    output = session.output
    async with session.client(signing=True) as client:
        with output.progress("reading the coins"):
            before = await client.coins(client.address)
        record = {"address": str(client.address), "coins": len(before)}
        if len(before) > 1 and not session.dry_run:
            output.confirm(f"Merge {len(before)} coins on {client.network.name}?", yes=session.yes)
            with output.progress("waiting for the network"):
                merged = await client.merge_coins()
            record["coins"] = len(await client.coins(client.address))
        else:
            merged = ()
    count = units.count(len(before), "coin")
    if merged:
        report(output, merged, f"merged {count} into {record['coins']}", record)
        return
    would = session.dry_run and len(before) > 1
    output.note(f"{count} would be merged" if would else f"nothing to merge: {count}")
    output.record(record | {"dry_run": session.dry_run})
