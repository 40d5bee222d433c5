"""The commands `package lock` and `make-immutable`, and the upgrade policy of packages."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.package.journal import PublishJournal
from nexus_tools.cli.package.published import require_package
from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import (
        LockDeployment,
        PackageKind,
        PackageUpgradeState,
        Sent,
        UpgradeLocks,
    )
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.types.address import Address

_LOCK = "lock"

PACKAGE = click.argument("package", required=False)
"""A package, by the ID of any of its versions, or `workflows`. Default: our tool package."""


@click.command()
@click.argument("upgrade_cap", required=False)
@transaction_command
async def lock(session: Session, upgrade_cap: str | None) -> None:
    """Lock the package of UPGRADE_CAP permanently. Default: the tool package of nexus-tools.

    Only the first version of a package can be locked.
    """
    from nexus_tools.contracts import UpgradeLocks
    from nexus_tools.sui.client import Executed
    from nexus_tools.sui.types.address import Address

    async with session.client(signing=True) as client:
        if upgrade_cap:
            cap = Address.parse_whole(upgrade_cap)
        else:
            cap = await _our_cap(session, client)
        before, locks = await ensure_lock_package(session, client)
        if locks is None:  # a dry run cannot simulate the second step without the first
            done = f"published upgrade_lock on {client.network.name} to lock {cap}"
            report(session.output, before, done, {"upgrade_cap": str(cap)})
            return
        done = f"locked the package of {cap} permanently"
        sent = await confirm_and_execute(
            session,
            UpgradeLocks(client, locks, dry_run=session.dry_run),
            lambda service: service.lock(cap),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    record = {"upgrade_cap": str(cap)}
    if isinstance(sent, Executed):
        [lock_id] = sent.created_of("upgrade_lock", "UpgradeLock")
        record["lock"] = str(lock_id)
    report(session.output, [*before, sent], done, record)


@click.command()
@PACKAGE
@transaction_command
async def make_immutable(session: Session, package: str | None) -> None:
    """End all upgrades of the locked PACKAGE immediately and permanently.

    Default: the tool package of nexus-tools. The command also cancels a proposed upgrade, and
    requires the key that owns the lock.
    """
    async with session.client(signing=True) as client:
        locks, package_id = await locked_package(session, client, package)
        done = f"made {package_id} immutable: it can no longer be upgraded"
        sent = await confirm_and_execute(
            session,
            locks,
            lambda service: service.make_immutable(package_id),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    report(session.output, sent, done, {"package": str(package_id)})


# --- Selection of the lock and the package


async def _our_cap(session: Session, client: "SuiClient") -> "Address":
    """Return the `UpgradeCap` of our package while it is not locked. Raises `package_locked`."""
    from nexus_tools.contracts import UpgradeMode

    deployment = await session.deployment(client)
    upgrades = (await upgrades_record(session, client, deployment.original_id))["upgrades"]
    if upgrades != UpgradeMode.FREE:
        raise WrongStateError(
            "package_locked",
            f"the package is already {upgrades}",
            hint="Run `nexus-tools package upgrade show` to see its owner and proposals.",
        )
    return deployment.require_upgrade_cap()


async def needs_lock_package(session: Session, client: "SuiClient") -> bool:
    """Return whether `upgrade_lock` has to be published first."""
    if session.settings.find_locks(client.network.name, await client.chain_id()) is not None:
        return False
    return not await (await PublishJournal.of(session, client)).executed(_LOCK)


async def ensure_lock_package(
    session: Session, client: "SuiClient", *, step: str = ""
) -> "tuple[list[Sent], LockDeployment | None]":
    """Return the `upgrade_lock` package of the network, after the transactions that published it.

    If this machine does not know the package, the function publishes it. `step` numbers the prompt.
    The package is None in a dry run that would have to publish it.
    """
    from nexus_tools.contracts import Publisher

    network, journal = client.network.name, await PublishJournal.of(session, client)
    known = session.settings.find_locks(network, await client.chain_id())
    if known is not None:
        return [], known
    done = f"published the immutable package upgrade_lock on {network}"
    sent, locks = await journal.confirm_and_execute(
        _LOCK,
        Publisher(client, dry_run=session.dry_run),
        lambda publisher, executed: publisher.publish_lock(done=executed),
        question=lambda simulated: confirmation_prompt(done, simulated[0], step=step),
    )
    if locks is not None and not session.dry_run:
        session.settings.remember_locks(locks, network)
        journal.forget(_LOCK)
        session.output.done(done)
    return [sent], locks


async def require_lock_package(session: Session, client: "SuiClient") -> "UpgradeLocks":
    """Return the locks of the network. Raises `upgrade_lock_unknown`."""
    from nexus_tools.contracts import UpgradeLocks

    locks = session.settings.find_locks(client.network.name, await client.chain_id())
    if locks is None:
        raise NotFoundError(
            "upgrade_lock_unknown",
            f"no upgrade_lock package is known on {client.network.name}",
            hint="Run `nexus-tools package use` with a locked package, or with --upgrade-lock ID.",
        )
    return UpgradeLocks(client, locks, dry_run=session.dry_run)


async def locked_package(
    session: Session, client: "SuiClient", package: str | None
) -> "tuple[UpgradeLocks, Address]":
    """Return the locks of the network, and the selected package. Raises `workflows_unknown`."""
    from nexus_tools.sui.types.address import Address

    locks = await require_lock_package(session, client)
    part = part_of(package)
    if part is not None:
        return locks, (await session.deployment(client)).package_of_kind(part).original_id
    assert package is not None
    named = Address.parse(package)
    await require_package(client, named)
    return locks, named


def part_of(package: str | None) -> "PackageKind | None":
    """Return which of our packages is selected, or None for another package."""
    from nexus_tools.contracts import PackageKind

    if package is None:
        return PackageKind.TOOLS
    return PackageKind.WORKFLOWS if package == PackageKind.WORKFLOWS else None


# --- Records of the upgrade policy


async def upgrades_record(
    session: Session, client: "SuiClient", package: "Address"
) -> dict[str, Any]:
    """Return the upgrade policy of a package as a flat record, with times in ms since 1970.

    A package without a known lock is free.
    """
    from nexus_tools.contracts import UpgradeLocks, UpgradeMode

    locks = session.settings.find_locks(client.network.name, await client.chain_id())
    if locks is None:
        return {"upgrades": str(UpgradeMode.FREE)}
    return upgrades_document(await UpgradeLocks(client, locks).upgrade_state(package))


def upgrades_document(found: "PackageUpgradeState") -> dict[str, Any]:
    """Return the record of `upgrades_record` for an upgrade policy."""
    from nexus_tools.contracts import UpgradeMode

    record: dict[str, Any] = {"upgrades": str(found.upgrades)}
    if found.upgrades is UpgradeMode.LOCKED:
        record["upgrades_owner"] = str(found.owner)
    if found.offered is not None:
        record["upgrades_offered"] = str(found.offered)
    proposal = found.proposal
    if proposal is None:
        return record
    return record | {
        "proposed_digest": proposal.digest.hex(),
        "proposed_sources": proposal.sources,
        "proposed_at_ms": proposal.proposed_at_ms,
        "executable_at_ms": proposal.executable_at_ms,
        "expires_at_ms": proposal.expires_at_ms,
    }


async def in_words(session: Session, client: "SuiClient", record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with `upgrades_record` for display, with the remaining times as text."""
    if session.output.as_json:
        return record
    now_ms = await client.now_ms()
    times = {
        key: value for key, value in record.items() if key in ("executable_at_ms", "expires_at_ms")
    }
    said = {key.removesuffix("_at_ms"): units.utc(at, now_ms) for key, at in times.items()}
    rest = {key: value for key, value in record.items() if key not in times}
    return units.in_words(rest) | said
