"""The commands of a lock's owner: `package upgrade propose`, `cancel`, `offer` and `accept`."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    ACCOUNT,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.package.compiler import Compilation, compilation_options
from nexus_tools.cli.package.lock import PACKAGE, in_words, locked_package, upgrades_record
from nexus_tools.cli.package.upgrade.subject import SOURCES, compiled_upgrade
from nexus_tools.cli.package.verification import verify

if TYPE_CHECKING:
    from nexus_tools.contracts import CompiledPackage, Sent, UpgradeLocks
    from nexus_tools.sui.types.address import Address


@click.command()
@PACKAGE
@click.option("--sources", metavar="URL", required=True, help="Public URL of the sources.")
@SOURCES
@compilation_options
@transaction_command
async def propose(
    session: Session,
    package: str | None,
    *,
    sources: str,
    folder: Path | None,
    compilation: Compilation,
) -> None:
    """Propose an upgrade of the locked PACKAGE to the package in --folder.

    Without PACKAGE, the command proposes to upgrade the tool package to the version that comes with
    nexus-tools. Anyone can execute the upgrade from 14 to 21 days after the proposal. The proposal
    requires the key that owns the lock.
    """
    compiled = await compiled_upgrade(session, package, folder, compilation)

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.propose(package_id, compiled, sources)

    await _carry_out(session, package, verb, "proposed an upgrade of {}", compiled)


@click.command()
@PACKAGE
@transaction_command
async def cancel(session: Session, package: str | None) -> None:
    """Cancel the proposed upgrade of PACKAGE. Default: the tool package.

    From the 14th day on, someone may execute the upgrade before you cancel it. The cancellation
    requires the key that owns the lock.
    """

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.cancel(package_id)

    await _carry_out(session, package, verb, "cancelled the proposed upgrade of {}")


@click.command()
@click.argument("to", type=ACCOUNT)
@PACKAGE
@transaction_command
async def offer(session: Session, to: str, package: str | None) -> None:
    """Offer the lock of PACKAGE to the account TO, which must accept it.

    Default: the tool package.

    A proposed upgrade stays open. To withdraw an offer, offer the lock to yourself.
    """
    recipient = session.address_of(to)

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.offer(package_id, recipient)

    await _carry_out(session, package, verb, f"offered the lock of {{}} to {recipient}")


@click.command()
@PACKAGE
@transaction_command
async def accept(session: Session, package: str | None) -> None:
    """Accept the lock of PACKAGE that was offered to your key. Default: the tool package."""

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.accept(package_id)

    await _carry_out(session, package, verb, "accepted the lock of {}")


async def _carry_out(
    session: Session,
    package: str | None,
    verb: "Callable[[UpgradeLocks, Address], Awaitable[Sent]]",
    told: str,
    proposed: "CompiledPackage | None" = None,
) -> None:
    """Run an action, and report the resulting upgrade policy of the package."""
    async with session.client(signing=True) as client:
        locks, package_id = await locked_package(session, client, package)
        if proposed:  # the chain only verifies the modules at execution, so verify them now
            await verify(client, proposed.modules, proposed.dependencies)
        done = told.format(package_id)
        sent = await confirm_and_execute(
            session,
            locks,
            lambda service: verb(service, package_id),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
        record: dict[str, Any] = {"package": str(package_id)}
        record |= await upgrades_record(session, client, package_id)
        record = await in_words(session, client, record)
    report(session.output, sent, done, record)
