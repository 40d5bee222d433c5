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
    from nexus_tools.sui.transaction import Argument

    _Amount = click.ParamType[int | None]
else:  # it is generic from click 8.5 on
    _Amount = click.ParamType

_ALL = "all"


class _AmountOrAll(_Amount):
    """An amount, or the word for everything, as None."""

    name = AMOUNT.name

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Read the text."""
        return None if value == _ALL else AMOUNT.convert(value, param, ctx)


@click.command()
@click.argument("to", shell_complete=complete_keys)
@click.argument("amount", type=_AmountOrAll())
@click.option("--deposit", is_flag=True, help="Put it into the address balance of TO.")
@writes
async def transfer(session: Session, to: str, amount: int | None, *, deposit: bool) -> None:
    """Send AMOUNT SUI to TO, an address or a key of the wallet by its alias.

    Coins and the address balance pay. The AMOUNT `all` sends everything but the gas. What would
    leave too little for gas is refused before anything is signed, with exit code 4.
    """
    if amount == 0:
        raise UsageError("amount_zero", "nothing is sent with an amount of 0")
    if amount is None and deposit:
        raise UsageError(
            "amount_needed", "a deposit needs an amount", hint="leave something for gas"
        )
    recipient = session.address_of(to)
    whom = str(recipient) if to.startswith("0x") else f"{to} ({recipient})"
    async with session.client(signing=True) as client:
        purse = _Purse(client, recipient, amount, deposit)
        all_mist = await purse.everything() if amount is None else 0

        def text(sent: "Sent") -> str:
            return units.sui(all_mist - sent.cost.net if amount is None else amount)

        sent = await carry_out(
            session,
            purse,
            _Purse.send,
            question=lambda rehearsed: (
                f"Send {text(rehearsed)} to {whom} on {client.network.name},"
                f" and pay {units.sui(rehearsed.cost.net)} for gas?"
            ),
        )
        mist = all_mist - sent.cost.net if amount is None else amount
        record = {"from": str(client.address), "to": str(recipient), "amount_mist": mist}
    report(session.output, sent, f"sent {units.sui(mist)} to {whom}", record)


@dataclass(frozen=True)
class _Purse:
    """What `carry_out` rehearses and does."""

    client: "SuiClient"
    recipient: "Address"
    amount_mist: int | None
    deposit: bool
    dry_run: bool = False

    def rehearsal(self) -> Self:
        return replace(self, dry_run=True)

    async def everything(self) -> int:
        """What one transaction can send, in MIST, its gas included: of coins the largest."""
        from nexus_tools.client import MAX_PAYMENT_COINS

        owner = self.client.address
        parts = await self.client.balance_parts(owner)
        coins = sorted((coin.balance for coin in await self.client.coins(owner)), reverse=True)
        return parts.in_address + sum(coins[:MAX_PAYMENT_COINS])

    async def send(self) -> "Sent":
        from nexus_tools.package import execute_or_simulate
        from nexus_tools.sui.builder import TransactionBuilder
        from nexus_tools.sui.type_tag import SUI

        builder = TransactionBuilder()
        coin: Argument = builder.gas
        if self.amount_mist is not None:
            coin = builder.split_coins(builder.gas, [self.amount_mist])[0]
        if self.deposit:
            builder.deposit(coin, self.recipient, SUI)
        else:
            builder.transfer_objects([coin], self.recipient)
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)
