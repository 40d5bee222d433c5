"""`nexus-tools network`: which Sui network commands work on."""

from typing import Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import local, reads
from nexus_tools.cli.session import Session


@click.group()
def command() -> None:
    """Choose the network to work on."""


@command.command("list")
@local
def list_networks(session: Session) -> None:
    """List the networks: the usual ones and your own."""
    from nexus_tools.client import NETWORKS  # noqa: PLC0415 - not for `--help`

    own = session.settings.networks
    rows: list[dict[str, Any]] = [
        {"name": name, "url": network.url, "current": name == session.settings.network}
        for name, network in NETWORKS.items()
        if name not in own
    ]
    rows += [
        {"name": name, "url": own[name]["url"], "current": name == session.settings.network}
        for name in own
    ]
    columns = {"name": "Network", "url": "URL", "current": "Current"}
    session.output.table(rows, columns, empty="there is no network")


@command.command()
@click.argument("name")
@click.option("--url", help="The URL of a node's gRPC API: adds or changes your own network.")
@click.option("--faucet-url", help="The URL of the network's faucet.")
@local
def use(session: Session, name: str, url: str | None, faucet_url: str | None) -> None:
    """Work on the network NAME from now on."""
    if url:
        profile = {"url": url} | ({"faucet_url": faucet_url} if faucet_url else {})
        session.settings.networks[name] = profile
    session.network_name = name
    network = session.network()
    session.settings.values["network"] = name
    session.settings.save()
    session.output.done(f"commands work on {name} ({network.url})")
    if session.output.as_json:
        session.output.document({"name": name, "url": network.url})


@command.command()
@reads
async def show(session: Session) -> None:
    """Show the current network, and whether it answers."""
    async with session.client() as client:
        with session.output.progress("asking the network"):
            record = {
                "name": client.network.name,
                "url": client.network.url,
                "chain_id": str(await client.chain_id()),
                "time_ms": await client.now_ms(),
            }
    record["package"] = session.settings.deployments.get(client.network.name, {}).get("package_id")
    session.output.record(record if session.output.as_json else units.in_words(record))
