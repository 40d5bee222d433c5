"""SUI that goes from the key that signs to somebody."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import click

from nexus_tools import units
from nexus_tools.cli.framework import AMOUNT, Session, carry_out, complete_keys, report, writes
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.client import SuiClient
    from nexus_tools.package import Sent
    from nexus_tools.sui.address import Address


@click.command()
@click.argument("to", shell_complete=complete_keys)
@click.argument("amount", type=AMOUNT)
@writes
async def transfer(session: Session, to: str, amount: int) -> None:
    """Send AMOUNT SUI to TO, an address or a key of the wallet by its alias.

    What would leave too little for gas is refused before anything is signed, with exit code 4.
    """
    if amount == 0:
        raise UsageError("amount_zero", "nothing is sent with an amount of 0")
    recipient = session.address_of(to)
    whom = str(recipient) if to.startswith("0x") else f"{to} ({recipient})"
    text = units.sui(amount)
    async with session.client(signing=True) as client:
        sent = await carry_out(
            session,
            _Purse(client),
            lambda purse: purse.send(recipient, amount),
            question=lambda rehearsed: (
                f"Send {text} to {whom} on {client.network.name},"
                f" and pay {units.sui(rehearsed.cost.net)} for gas?"
            ),
        )
        record = {"from": str(client.address), "to": str(recipient), "amount_mist": amount}
    report(session.output, sent, f"sent {text} to {whom}", record)


@dataclass(frozen=True)
class _Purse:
    """What `carry_out` rehearses and does."""

    client: "SuiClient"
    dry_run: bool = False

    def rehearsal(self) -> Self:
        return replace(self, dry_run=True)

    async def send(self, recipient: "Address", amount_mist: int) -> "Sent":
        from nexus_tools.package import execute_or_simulate
        from nexus_tools.sui.builder import TransactionBuilder

        builder = TransactionBuilder()
        builder.transfer_objects(builder.split_coins(builder.gas, [amount_mist]), recipient)
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)
