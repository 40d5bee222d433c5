"""The command `nexus-tools localnet faucet`, for localnets and test networks."""

from contextlib import suppress
from typing import Any

import click

from nexus_tools.cli.framework import AMOUNT, Session, network_command
from nexus_tools.errors import UnreachableError
from nexus_tools.settings.running_localnet import start_command
from nexus_tools.sui.support import units

_TYPED = len("0x") + 8
"""The maximum length of a short address. A longer address must have all 64 digits."""


@click.command()
@click.argument("address", required=False)
@click.option("--amount", type=AMOUNT, help="Amount in SUI. Default: the faucet's portion.")
@network_command
async def command(session: Session, address: str | None, amount: int | None) -> None:
    """Send SUI to ADDRESS, an address or the alias of a key. Default: the key that signs.

    A localnet sends exactly the amount. The faucets of devnet and testnet send fixed portions.
    The command requests portions until they reach the amount.
    """
    from nexus_tools.sui.client import request_sui

    network = session.network()
    if session.settings.lacks_localnet(network.name):
        with suppress(UnreachableError):  # the faucet reports this
            async with session.client() as client:
                await session.check_own_node(client)
    if address is None:
        recipient = session.own_address()
    else:
        recipient = session.address_of(address, short=len(address) <= _TYPED)
    given, digests = 0, dict[str, None]()
    timeout_s = session.settings.timeout_s
    with session.output.progress("requesting SUI from the faucet"):
        while not digests or (amount is not None and given < amount):
            missing = None if amount is None else amount - given
            try:
                gifts = await request_sui(network, recipient, missing, timeout_s=timeout_s)
            except UnreachableError as error:
                if not error.details.get("timeout_s") and session.settings.lacks_localnet(
                    network.name
                ):
                    error.hint = (
                        f"Run `{start_command(network.endpoint().port)}` to start a localnet."
                    )
                raise
            for gift in gifts:
                given += gift.amount
                digests[str(gift.transaction)] = None
    session.output.done(f"{units.sui(given)} sent to {recipient} on {network.name}")
    record: dict[str, Any] = {"network": network.name, "address": str(recipient)}
    record |= {"amount_mist": given, "digests": list(digests)}
    if session.output.as_json:
        session.output.document(record)
