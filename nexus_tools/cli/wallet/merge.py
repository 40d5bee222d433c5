"""The command `nexus-tools wallet merge`."""

import click

from nexus_tools.cli.framework import Session, report, transaction_command
from nexus_tools.sui.support import units


@click.command()
@transaction_command
async def merge(session: Session) -> None:
    """Merge the SUI coins of the key that signs into one.

    A transaction can pay with at most 255 coins. Commands of nexus-tools merge coins if a payment
    needs more coins, but other programs do not. The coins pay for the gas, but the storage rebate
    of merged coins is usually higher than the gas. The command does not merge coins that are worth
    less than the gas to merge them.
    """
    output = session.output
    async with session.client(signing=True) as client:
        with output.progress("reading the coins"):
            before = await client.coins(client.address)
        record = {"address": str(client.address), "coins": len(before)}
        if len(before) > 1 and not session.dry_run:
            output.confirm(f"Merge {len(before)} coins on {client.network.name}?", yes=session.yes)
            with output.progress("waiting for the transaction"):
                async with session.sending_turn():
                    merged = await client.merge_coins()
            record["coins"] = len(await client.coins(client.address))
        else:
            merged = ()
    count = units.count(len(before), "coin")
    if merged:
        report(output, merged, f"merged {count} into {record['coins']}", record)
        return
    would = session.dry_run and len(before) > 1
    output.note(f"would merge {count}" if would else f"nothing to merge: {count}")
    output.record(record | {"dry_run": session.dry_run})
