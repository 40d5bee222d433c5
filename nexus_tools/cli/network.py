"""The command group `nexus-tools network`, which selects a Sui network."""

from typing import Any

import click

from nexus_tools.cli.framework import (
    Session,
    complete_networks,
    offline_command,
    plain,
    query_command,
)
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.support import units


@click.group()
def command() -> None:
    """Select the network that commands use."""


@command.command("list")
@offline_command
def list_networks(session: Session) -> None:
    """List all networks: your own, well-known networks, and networks of the Sui CLI and pysui."""
    rows: list[dict[str, Any]] = [
        {
            "name": found.value.name,
            "url": found.value.url,
            "current": found.value.name == session.settings.network,
            "source": found.source,
        }
        for found in session.settings.all_networks(session.output.warn_ignored)
    ]
    columns = {"name": "Network", "url": "URL", "current": "Current", "source": "Source"}
    session.output.table(rows, columns, empty="no networks")
    for hidden in session.settings.hidden_networks():
        name, url = hidden.value.name, hidden.value.url
        session.output.warn(
            f"{plain(str(hidden.file))} defines {plain(name)} as {plain(url)}, which is ignored."
            f" Run `nexus-tools network use NAME --url {plain(url)}` to use it under another name"
        )


@command.command()
@click.argument("name", shell_complete=complete_networks)
@click.option("--url", help="URL of a node's gRPC API. Adds the network NAME, or changes its URL.")
@click.option("--faucet-url", help="URL of the network's faucet.")
@offline_command
def use(session: Session, name: str, url: str | None, faucet_url: str | None) -> None:
    """Use the network NAME from now on."""
    if url:
        profile = {"url": url} | ({"faucet_url": faucet_url} if faucet_url else {})
        session.settings.networks[name] = profile
    network = session.settings.find_network(name)
    session.settings.values["network"] = name
    session.settings.save()
    overridden = session.settings.network != name
    done = f"commands use the network {name} ({network.url})"
    session.report_setting("network", done, overridden=overridden)
    if session.output.as_json:
        session.output.document({"name": name, "url": network.url})


@command.command()
@query_command
async def show(session: Session) -> None:
    """Show the current network and check that it responds."""
    async with session.client() as client:
        with session.output.progress("querying the network"):
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
    """Return the package on this chain, or None. A restarted localnet may have a new chain."""
    try:
        return str(session.settings.find_deployment(network, chain_id).package_id)
    except NotFoundError:
        return None


@command.command()
@click.argument("digest")
@query_command
async def transaction(session: Session, digest: str) -> None:
    """Show whether the transaction DIGEST was executed.

    The exit code is 3 if the node does not know the transaction. An unknown transaction may still
    have been executed, because a node may lag behind or lie. For a large amount, check another node
    as well.
    """
    from nexus_tools.sui.types.digest import Digest
    from nexus_tools.sui.types.execution_status import Success

    wanted = Digest.parse(digest)
    async with session.client() as client:
        with session.output.progress("querying the network"):
            executed = await client.transaction(wanted)
    if executed is None:
        raise NotFoundError(
            "transaction_unknown",
            f"the node of {client.network.name} does not know the transaction {wanted}",
            hint="Try again in a minute, or use another node.",
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
