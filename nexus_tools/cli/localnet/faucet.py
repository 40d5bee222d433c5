"""`nexus-tools localnet faucet`: SUI, from the localnet or from the faucet of a test network."""

import click

from nexus_tools.cli.framework import AMOUNT, Session, reads
from nexus_tools.errors import UnreachableError
from nexus_tools.settings.running_localnet import start_command
from nexus_tools.sui.support import units

_TYPED = len("0x") + 8
"""The most characters of a typed address. A longer one may be a copy that lost a digit."""


@click.command()
@click.argument("address", required=False)
@click.option("--amount", type=AMOUNT, help="In SUI; what the faucet gives by default.")
@reads
async def command(session: Session, address: str | None, amount: int | None) -> None:
    """Send SUI to ADDRESS, or a key by its alias; without it, to the key that signs.

    A localnet gives exactly the amount. The faucets of devnet and testnet give whole portions: as
    many are sent as it takes to have the amount at least.
    """
    from nexus_tools.sui.client import request_sui

    network = session.network()
    if address is None:
        recipient = session.own_address()
    else:
        recipient = session.address_of(address, short=len(address) <= _TYPED)
    given, digests = 0, dict[str, None]()
    timeout_s = session.settings.timeout_s
    with session.output.progress("asking the faucet"):
        while not digests or (amount is not None and given < amount):
            missing = None if amount is None else amount - given
            try:
                gifts = await request_sui(network, recipient, missing, timeout_s=timeout_s)
            except UnreachableError as error:
                if not error.details.get("timeout_s") and session.settings.lacks_localnet(
                    network.name
                ):
                    error.hint = f"`{start_command(network.endpoint().port)}` starts a localnet"
                raise
            for gift in gifts:
                given += gift.amount
                digests[str(gift.transaction)] = None
    session.output.done(f"{units.sui(given)} sent to {recipient}")
    record = {"address": str(recipient), "amount_mist": given, "digests": list(digests)}
    if session.output.as_json:
        session.output.document(record)
