"""The command `nexus-tools wallet transfer`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import click

from nexus_tools.cli.framework import (
    ACCOUNT,
    AMOUNT,
    Session,
    confirm_and_execute,
    report,
    transaction_command,
)
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.transaction import Argument

    _Amount = click.ParamType[int | None]
else:  # click.ParamType is generic since click 8.5
    _Amount = click.ParamType

_ALL = "all"


class _AmountOrAll(_Amount):
    """The parameter type of an amount, or of the word `all`, which becomes None."""

    name = AMOUNT.name

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Parse the text."""
        return None if value == _ALL else AMOUNT.convert(value, param, ctx)


@click.command()
@click.argument("to", type=ACCOUNT)
@click.argument("amount", type=_AmountOrAll())
@click.option(
    "--deposit", is_flag=True, help="Send to the address balance of TO instead of creating a coin."
)
@transaction_command
async def transfer(session: Session, to: str, amount: int | None, *, deposit: bool) -> None:
    """Send AMOUNT SUI to TO, an address with all 64 digits or the alias of a key.

    The payment uses coins and the address balance. The AMOUNT `all` sends everything except the
    gas. If there are too many coins for one transaction, the command merges them first. If the rest
    would not cover the gas, the command exits with code 4 before it signs.
    """
    if amount == 0:
        raise UsageError("amount_zero", "expected an amount above 0")
    if amount is None and deposit:
        raise UsageError(
            "amount_needed",
            "--deposit cannot be combined with the amount `all`",
            hint="Pass an amount that leaves enough SUI for gas.",
        )
    recipient = session.address_of(to)
    whom = str(recipient) if to[:2].lower() == "0x" else f"{to} ({recipient})"
    async with session.client(signing=True) as client:
        network = client.network.name
        transferred = await confirm_and_execute(
            session,
            _Transfer(client, recipient, amount, deposit),
            _Transfer.send,
            question=lambda simulated: (
                f"Send {units.sui(simulated.amount_mist)} to {whom} on {network},"
                f" and pay {units.sui(simulated.sent[-1].cost.net)} for gas?"
            ),
        )
        record = {
            "from": str(client.address),
            "to": str(recipient),
            "amount_mist": transferred.amount_mist,
        }
    done = f"sent {units.sui(transferred.amount_mist)} to {whom}"
    report(session.output, transferred.sent, done, record)
    if transferred.left_mist:
        session.output.warn(
            f"{units.sui(transferred.left_mist)} are left in coins that are worth less than the gas"
            " to merge them"
        )


@dataclass(frozen=True)
class _Transferred:
    """The transactions of a transfer, its amount, and the MIST that `all` cannot send."""

    sent: "Sequence[Sent]"
    amount_mist: int
    left_mist: int = 0


@dataclass(frozen=True)
class _Transfer:
    """A transfer that `confirm_and_execute` simulates and sends."""

    client: "SuiClient"
    recipient: "Address"
    amount_mist: int | None
    deposit: bool
    dry_run: bool = False

    def dry_run_client(self) -> Self:
        return replace(self, dry_run=True)

    async def send(self) -> _Transferred:
        if self.amount_mist is not None:
            return _Transferred([await self._send(self.amount_mist)], self.amount_mist)
        merged = [] if self.dry_run else await self._merge()
        total_mist, sendable_mist = await self._everything()
        sent = await self._send(None)
        had_mist = total_mist if self.dry_run else sendable_mist
        left_mist = 0 if self.dry_run else total_mist - sendable_mist
        return _Transferred([*merged, sent], had_mist - sent.cost.net, left_mist)

    async def _merge(self) -> "Sequence[Sent]":
        """Merge coins unless all of them fit in a transaction."""
        from nexus_tools.sui.client import MAX_PAYMENT_COINS

        coins = await self.client.coins(self.client.address)
        return await self.client.merge_coins() if len(coins) > MAX_PAYMENT_COINS else ()

    async def _everything(self) -> tuple[int, int]:
        """Return the wallet's balance in MIST, and the part that one transaction can send."""
        from nexus_tools.sui.client import MAX_PAYMENT_COINS

        owner = self.client.address
        parts = await self.client.balance_parts(owner)
        coins = sorted((coin.balance for coin in await self.client.coins(owner)), reverse=True)
        return parts.in_address + sum(coins), parts.in_address + sum(coins[:MAX_PAYMENT_COINS])

    async def _send(self, amount_mist: int | None) -> "Sent":
        from nexus_tools.contracts import execute_or_simulate
        from nexus_tools.sui.transaction_builder import TransactionBuilder
        from nexus_tools.sui.types.type_tag import SUI

        builder = TransactionBuilder()
        coin: Argument = builder.gas
        if amount_mist is not None:
            coin = builder.split_coins(builder.gas, [amount_mist])[0]
        if self.deposit:
            builder.deposit(coin, self.recipient, SUI)
        else:
            builder.transfer_objects([coin], self.recipient)
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)
