"""What the owner of a lock does, and who takes a lock over."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import ACCOUNT, Session, asked, carry_out, report, writes
from nexus_tools.cli.package.compiler import Compilation, compiles
from nexus_tools.cli.package.lock import PACKAGE, in_words, locked_package, upgrades_record
from nexus_tools.cli.package.upgrade.subject import SOURCES, compiled_upgrade
from nexus_tools.cli.package.verification import verify

if TYPE_CHECKING:
    from nexus_tools.contracts import CompiledPackage, Sent, UpgradeLocks
    from nexus_tools.sui.types.address import Address


@click.command()
@PACKAGE
@click.option("--sources", metavar="URL", required=True, help="Where everybody reads the sources.")
@SOURCES
@compiles
@writes
async def propose(
    session: Session,
    package: str | None,
    *,
    sources: str,
    folder: Path | None,
    compilation: Compilation,
) -> None:
    """Propose to upgrade the locked PACKAGE to what is in a folder, or ours to what comes with us.

    It can be executed in 14 days, for 7 days. It needs the key that owns the lock.
    """
    compiled = await compiled_upgrade(session, package, folder, compilation)

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.propose(package_id, compiled, sources)

    await _carry_out(session, package, verb, "proposed an upgrade of {}", compiled)


@click.command()
@PACKAGE
@writes
async def cancel(session: Session, package: str | None) -> None:
    """Take back what is proposed for PACKAGE; without it, for ours.

    From the 14th day on somebody may be quicker, and execute it. It needs the key that owns the
    lock.
    """

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.cancel(package_id)

    await _carry_out(session, package, verb, "cancelled the proposed upgrade of {}")


@click.command()
@click.argument("to", type=ACCOUNT)
@PACKAGE
@writes
async def offer(session: Session, to: str, package: str | None) -> None:
    """Offer the lock of PACKAGE to the address or key TO, which accepts it; without it, of ours.

    A proposal goes on. An offer to oneself takes another one back.
    """
    recipient = session.address_of(to)

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.offer(package_id, recipient)

    await _carry_out(session, package, verb, f"offered the lock of {{}} to {recipient}")


@click.command()
@PACKAGE
@writes
async def accept(session: Session, package: str | None) -> None:
    """Take over the lock of PACKAGE, which was offered to the key; without it, of ours."""

    async def verb(locks: "UpgradeLocks", package_id: "Address") -> "Sent":
        return await locks.accept(package_id)

    await _carry_out(session, package, verb, "took over the lock of {}")


async def _carry_out(
    session: Session,
    package: str | None,
    verb: "Callable[[UpgradeLocks, Address], Awaitable[Sent]]",
    told: str,
    proposed: "CompiledPackage | None" = None,
) -> None:
    """Do it, and say what may happen to the package from then on."""
    async with session.client(signing=True) as client:
        locks, package_id = await locked_package(session, client, package)
        if proposed:  # now, for the chain looks at the modules when they are executed
            await verify(client, proposed.modules, proposed.dependencies)
        done = told.format(package_id)
        sent = await carry_out(
            session,
            locks,
            lambda service: verb(service, package_id),
            question=lambda rehearsed: asked(done, rehearsed),
        )
        record: dict[str, Any] = {"package": str(package_id)}
        record |= await upgrades_record(session, client, package_id)
        record = await in_words(session, client, record)
    report(session.output, sent, done, record)
