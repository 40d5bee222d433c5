"""`nexus-tools network`: which Sui network commands work on."""

from typing import Any

import click

from nexus_tools.cli.framework import Session, complete_networks, local, plain, reads
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.support import units


@click.group()
def command() -> None:
    """Choose the network to work on."""


@command.command("list")
@local
def list_networks(session: Session) -> None:
    """List the networks: yours, the usual ones, and those of the Sui CLI and of pysui."""
    rows: list[dict[str, Any]] = [
        {
            "name": found.what.name,
            "url": found.what.url,
            "current": found.what.name == session.settings.network,
            "source": found.source,
        }
        for found in session.settings.all_networks(session.output.overlooked)
    ]
    columns = {"name": "Network", "url": "URL", "current": "Current", "source": "Source"}
    session.output.table(rows, columns, empty="there is no network")
    for hidden in session.settings.hidden_networks():
        name, url = hidden.what.name, hidden.what.url
        session.output.warn(
            f"{plain(name)} is not {plain(url)}, as {plain(str(hidden.file))} says:"
            f" `nexus-tools network use NAME --url {plain(url)}` uses that under another name"
        )


@command.command()
@click.argument("name", shell_complete=complete_networks)
@click.option("--url", help="The URL of a node's gRPC API: adds or changes your own network.")
@click.option("--faucet-url", help="The URL of the network's faucet.")
@local
def use(session: Session, name: str, url: str | None, faucet_url: str | None) -> None:
    """Work on the network NAME from now on."""
    if url:
        profile = {"url": url} | ({"faucet_url": faucet_url} if faucet_url else {})
        session.settings.networks[name] = profile
    network = session.settings.find_network(name)
    session.settings.values["network"] = name
    session.settings.save()
    overruled = session.settings.network != name
    done = f"commands work on {name} ({network.url})"
    session.report_setting("network", done, overruled=overruled)
    if session.output.as_json:
        session.output.document({"name": name, "url": network.url})


@command.command()
@reads
async def show(session: Session) -> None:
    """Show the current network, and whether it responds."""
    async with session.client() as client:
        with session.output.progress("asking the network"):
            chain_id = str(await client.chain_id())
            record = {
                "name": client.network.name,
                "url": client.network.url,
                "source": session.settings.locate_network(session.network_name).source,
                "chain_id": chain_id,
                "time_ms": await client.now_ms(),
                "package": _package(session, client.network.name, chain_id),
            }
    session.output.record(record if session.output.as_json else units.in_words(record))


def _package(session: Session, network: str, chain_id: str) -> str | None:
    """Return the package on this chain, or None: a localnet may have a new chain."""
    try:
        return str(session.settings.find_deployment(network, chain_id).package_id)
    except NotFoundError:
        return None


@command.command()
@click.argument("digest")
@reads
async def transaction(session: Session, digest: str) -> None:
    """Show whether the transaction DIGEST was executed.

    Exits with 3 if the node does not show it. This does not prove that it was not executed: a node
    may show it later, or lie. Ask another node for a large amount.
    """
    from nexus_tools.sui.types.digest import Digest
    from nexus_tools.sui.types.execution_status import Success

    wanted = Digest.parse(digest)
    async with session.client() as client:
        with session.output.progress("asking the network"):
            executed = await client.transaction(wanted)
    if executed is None:
        raise NotFoundError(
            "transaction_unknown",
            f"the node of {client.network.name} does not show the transaction {wanted}",
            hint="ask again in a minute, or ask another node",
        )
    status = executed.effects.status
    record = {
        "digest": str(wanted),
        "status": "succeeded" if isinstance(status, Success) else "failed",
        "checkpoint": executed.checkpoint,
        "time_ms": executed.timestamp_ms,
        "cost_mist": executed.cost.net,
    }
    session.output.record(record if session.output.as_json else units.in_words(record))
