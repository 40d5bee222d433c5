"""The package as it is published on the network: publish it, show it, choose it."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, asked, carry_out, reads, report, writes
from nexus_tools.cli.package.compiler import BUNDLE, FOLDER, Compilation, compiles
from nexus_tools.errors import NotFoundError, NotNowError

if TYPE_CHECKING:
    from nexus_tools.client import SuiClient
    from nexus_tools.localnet.compiler import BuiltPackage, Bundle


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option("--again", is_flag=True, help="Publish another one, although one is known.")
@BUNDLE
@compiles
@writes
async def publish(
    session: Session,
    folder: Path | None,
    *,
    again: bool,
    bundle: "Bundle | None",
    compilation: Compilation,
) -> None:
    """Publish the Move package in FOLDER; without it, the one that comes with nexus-tools.

    The key that signs gets the UpgradeCap, and of ours the AdminCap.
    """
    if folder is None:
        await _publish_ours(session, again=again)
    else:
        await _publish_folder(session, folder, compilation, bundle=bundle)


async def _publish_folder(
    session: Session, folder: Path, compilation: Compilation, *, bundle: "Bundle | None"
) -> None:
    from nexus_tools.client import Executed
    from nexus_tools.package import Publisher
    from nexus_tools.sui.address import Address

    with session.output.progress(f"compiling {folder}"):
        built = await asyncio.to_thread(_built, session, folder, compilation, bundle=bundle)
    dependencies = tuple(map(Address, built.dependencies))
    async with session.client(signing=True) as client:
        done = f"published {folder} on {client.network.name}"
        sent = await carry_out(
            session,
            Publisher(client, dry_run=session.dry_run),
            lambda publisher: publisher.publish_other(built.modules, dependencies),
            question=lambda rehearsed: asked(done, rehearsed),
        )
        record: dict[str, Any] = {"network": client.network.name, "folder": str(folder)}
    if isinstance(sent, Executed):
        (cap,) = sent.created_of("package", "UpgradeCap")
        record |= {"package_id": str(sent.published()), "upgrade_cap": str(cap)}
    report(session.output, sent, done, record)


def _built(
    session: Session, folder: Path, compilation: Compilation, *, bundle: "Bundle | None"
) -> "BuiltPackage":
    from nexus_tools.localnet.compiler import build_to_publish

    builder = compilation.builder(session)
    return build_to_publish(builder, folder, checkouts=compilation.checkouts, bundle=bundle)


async def _publish_ours(session: Session, *, again: bool) -> None:
    from nexus_tools.package import Publisher, load_package

    async with session.client(signing=True) as client:
        if not again:
            await _refuse_second(session, client)
        network = client.network.name
        result = await carry_out(
            session,
            Publisher(client, dry_run=session.dry_run),
            lambda publisher: publisher.publish(load_package()),
            question=lambda rehearsed: asked(f"published the package on {network}", rehearsed.sent),
        )
    record: dict[str, Any] = {"network": network}
    if result.deployment is not None:
        session.settings.remember(result.deployment, network)
        record = dict(result.deployment.as_json())
    report(session.output, result.sent, f"published the package on {network}", record)


async def _refuse_second(session: Session, client: "SuiClient") -> None:
    try:
        known = await session.deployment(client)
    except NotFoundError:
        return
    raise NotNowError(
        "package_published",
        f"the package is published on {client.network.name} already: {known.package_id}",
        hint="pass --again to publish another one with registries of its own",
    )


@click.command()
@reads
async def show(session: Session) -> None:
    """Show the package on the network: its objects and what its registries ask for."""
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registries"):
            tools = await nexus.tools.state()
            leaders = await nexus.leaders.state()
    record = dict(nexus.deployment.as_json()) | {
        "version": tools.version.number,
        "tools": tools.fqns.size,
        "leaders": leaders.leaders.size,
        "active_leaders": len(leaders.active),
        "collateral_mist": tools.settings.collateral_mist,
        "unregister_delay_ms": tools.settings.unregister_delay_ms,
        "leader_collateral_mist": leaders.settings.collateral_mist,
        "settle_fee_mist": leaders.settings.settle_fee_mist,
    }
    session.output.record(record if session.output.as_json else units.in_words(record))


@click.command()
@click.argument("package")
@reads
async def use(session: Session, package: str) -> None:
    """Use the published PACKAGE (its first version) from now on.

    Its registries and its newest version are found.
    """
    from nexus_tools.package import Deployment, newest
    from nexus_tools.sui.address import Address

    async with session.client() as client:
        with session.output.progress("looking for the registries"):
            value = await client.object(Address.parse(package))
            executed = value and await client.transaction(value.previous_transaction)
            if not executed:
                raise NotFoundError(
                    "package_unknown",
                    f"{client.network.name} knows no package {package}",
                    hint="check the id, or use a node that keeps the package's transaction",
                )
            deployment = await newest(client, Deployment.of(executed, await client.chain_id()))
        session.settings.remember(deployment, client.network.name)
    session.output.done(f"commands on {client.network.name} use {deployment.package_id}")
    session.output.record(dict(deployment.as_json()))
