"""The commands `package publish`, `show` and `use`, for packages on a network."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Session,
    confirmation_prompt,
    network_command,
    query_command,
    report,
    transaction_command,
)
from nexus_tools.cli.package.compiler import BUNDLE_OPTION, FOLDER, Compilation, compilation_options
from nexus_tools.cli.package.dry_run import ModulesWithDependencies, simulate_publication
from nexus_tools.cli.package.journal import PublishJournal, modules_step
from nexus_tools.cli.package.lock import (
    ensure_lock_package,
    in_words,
    needs_lock_package,
    upgrades_record,
)
from nexus_tools.cli.package.verification import verify_on_refusal
from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from nexus_tools.contracts import Deployment, Sent
    from nexus_tools.sui.client import Executed, SuiClient
    from nexus_tools.sui.localnet.compiler import Bundle
    from nexus_tools.sui.types.address import Address

_TOOLS = "tools"
_AND_LOCKED = ", and locked its upgrades"
_BOTH_LOCKED = ", and locked their upgrades"


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option(
    "--republish", is_flag=True, help="Publish again even if a published package is known."
)
@click.option(
    "--lock/--free",
    "locked",
    default=None,
    help="Lock the upgrades in the same transaction. Default: lock only the nexus-tools packages.",
)
@click.option(
    "--estimate",
    is_flag=True,
    help="Run the deployment on a temporary network in this process, and print the size and cost"
    " of each transaction. Nothing is sent.",
)
@BUNDLE_OPTION
@compilation_options
@transaction_command
async def publish(
    session: Session,
    folder: Path | None,
    *,
    republish: bool,
    locked: bool | None,
    estimate: bool,
    bundle: "Bundle | None",
    compilation: Compilation,
) -> None:
    """Publish the Move package in FOLDER, or the packages that come with nexus-tools.

    Without FOLDER, the command publishes the tool package, and then the workflow package in two
    more transactions. After an interruption, run the same command again to publish the rest. The
    key that signs becomes the admin.

    The key that signs owns the lock of a locked package. Anyone can execute a proposed upgrade of a
    locked package from 14 days after the proposal. For an unlocked package, the key that signs gets
    the UpgradeCap and can replace the code at any time.

    With --estimate, the command sends nothing, and does not need a key or a network. The command
    runs a complete deployment in this process: the packages, their settings, a leader and a tool.
    """
    if estimate:
        modules = None
        if folder is not None:
            modules = await _compiled(session, folder, compilation, bundle=bundle)
        with_lock = locked is not False if folder is None else bool(locked)
        await simulate_publication(session.output, modules, locked=with_lock)
    elif folder is None:
        await _publish_ours(session, republish=republish, locked=locked is not False)
    else:
        await _publish_folder(session, folder, compilation, bundle=bundle, locked=bool(locked))


async def _publish_folder(
    session: Session,
    folder: Path,
    compilation: Compilation,
    *,
    bundle: "Bundle | None",
    locked: bool,
) -> None:
    from nexus_tools.contracts import Publisher
    from nexus_tools.sui.client import Executed

    ours = await _linked(session, folder, compilation, bundle=bundle)
    modules, dependencies = await _compiled(session, folder, compilation, bundle=bundle, ours=ours)
    async with session.client(signing=True) as client:
        publisher = Publisher(client, dry_run=session.dry_run)
        if locked and await needs_lock_package(session, client):
            await publisher.check_funds(modules, with_lock=True)
        before, locks = await ensure_lock_package(session, client) if locked else ([], None)
        done = f"published {folder} on {client.network.name}{_AND_LOCKED if locked else ''}"
        journal, step = (
            await PublishJournal.of(session, client),
            modules_step(modules, dependencies),
        )
        async with verify_on_refusal(client, modules, dependencies):
            sent = await journal.confirm_and_execute(
                step,
                publisher,
                lambda service, done: service.publish_other(
                    modules, dependencies, locks, done=done
                ),
                question=lambda simulated: confirmation_prompt(done, simulated),
            )
        if not session.dry_run:
            journal.forget(step)
        record: dict[str, Any] = {"network": client.network.name, "folder": str(folder)}
    if isinstance(sent, Executed):
        record["package_id"] = str(sent.published())
        keeper = ("lock", "upgrade_lock", "UpgradeLock")
        name, *kind = keeper if locked else ("upgrade_cap", "package", "UpgradeCap")
        (keeper_id,) = sent.created_of(*kind)
        record[name] = str(keeper_id)
    report(session.output, [*before, sent], done, record, result=record.get("package_id", ""))


async def _linked(
    session: Session, folder: Path, compilation: Compilation, *, bundle: "Bundle | None"
) -> "Deployment | None":
    """Return our packages on the network if the package in the folder depends on them."""
    from nexus_tools.contracts import PACKAGE_NAMES
    from nexus_tools.sui.localnet.compiler import read_package

    package = read_package(folder, checkouts=compilation.checkouts, bundle=bundle)
    unpublished = {
        dependency.name for dependency in package.dependencies if not dependency.is_published
    }
    if bundle is not None or unpublished.isdisjoint(PACKAGE_NAMES):
        return None
    async with session.client() as client:
        return await _known(session, client)


async def _compiled(
    session: Session,
    folder: Path,
    compilation: Compilation,
    *,
    bundle: "Bundle | None",
    ours: "Deployment | None" = None,
) -> ModulesWithDependencies:
    """Compile the modules in a folder. Modules that depend on our packages are linked to `ours`."""
    from nexus_tools.testing.move_project import build_and_link

    def build() -> ModulesWithDependencies:
        builder, checkouts = compilation.builder(session), compilation.checkouts
        return ModulesWithDependencies(
            *build_and_link(builder, folder, ours, checkouts=checkouts, bundle=bundle)
        )

    with session.output.progress(f"compiling {folder}"):
        return await asyncio.to_thread(build)


async def _publish_ours(session: Session, *, republish: bool, locked: bool) -> None:
    """Publish our packages, or only the packages that an interrupted attempt did not publish."""
    from nexus_tools.contracts import Deployment, Publisher, shipped_packages

    async with session.client(signing=True) as client:
        deployment = None if republish else await _unfinished(session, client)
        network, publisher = client.network.name, Publisher(client, dry_run=session.dry_run)
        journal, chain_id = await PublishJournal.of(session, client), await client.chain_id()
        earlier = await journal.executed(_TOOLS)
        if deployment is None and earlier:
            deployment = Deployment.of(earlier[0], chain_id)
        tools_package, workflows_package = shipped_packages()
        lacking = [workflows_package] if deployment else [tools_package, workflows_package]
        if deployment and await journal.executed(_workflows_step(deployment)):
            lacking = []
        with_lock = locked and await needs_lock_package(session, client)
        most_mist = await publisher.check_funds(
            *(package.modules for package in lacking), with_lock=with_lock
        )
        steps = _Steps(len(lacking) + with_lock)
        if steps.count and session.output.can_ask and not session.yes and not session.dry_run:
            session.output.note(steps.announce(most_mist))
        sent: list[Sent] = []
        locks = None
        if locked:
            first = steps.next() if with_lock else ""
            sent, locks = await ensure_lock_package(session, client, step=first)
        done = f"published the packages on {network}{_BOTH_LOCKED if locked else ''}"
        and_locked = _AND_LOCKED if locked else ""
        if deployment is None:
            ask = steps.question(f"published the package of tools on {network}{and_locked}")
            tools = await journal.confirm_and_execute(
                _TOOLS,
                publisher,
                lambda service, done: service.publish_tools(tools_package, locks, done=done),
                question=ask,
            )
            sent, deployment = [*sent, *tools.sent], tools.deployment
            if deployment is not None:  # stored now, in case the next step fails
                session.settings.remember(deployment, network)
        if deployment is not None:
            known = deployment
            part = f"published the package of workflows on {network}{and_locked}"
            workflows = await journal.confirm_and_execute(
                _workflows_step(known),
                publisher,
                lambda service, done: service.publish_workflows(known, locks, done=done),
                question=steps.question(f"{part}. A small transaction for its registry follows"),
                length=2,
            )
            sent, deployment = [*sent, *workflows.sent], workflows.deployment
    record: dict[str, Any] = {"network": network}
    if deployment is not None and not session.dry_run:
        session.settings.remember(deployment, network)
        journal.forget(_TOOLS, _workflows_step(deployment))
        record = dict(deployment.as_json())
    report(session.output, sent, done, record, result=record.get("package_id", ""))


class _Steps:
    """The numbers of the prompts of a command that sends several transactions."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._last = 0

    def announce(self, most_mist: int) -> str:
        """Return a sentence with the number of steps and their maximum cost."""
        steps = "1 step costs" if self.count == 1 else f"{self.count} steps cost"
        return f"the remaining {steps} at most about {units.sui(most_mist)} in total"

    def next(self) -> str:
        """Return the number of the next step, or an empty string if there is only one."""
        self._last += 1
        return f"Step {self._last} of {self.count}" if self.count > 1 else ""

    def question(self, done: str) -> "Callable[[Any], str]":
        """Return a function that makes the prompt of the next step from its `PublishResult`."""
        step = self.next()
        return lambda simulated: confirmation_prompt(done, simulated.sent[0], step=step)


def _workflows_step(deployment: "Deployment") -> str:
    return f"workflows of {deployment.original_id}"


async def _known(session: Session, client: "SuiClient") -> "Deployment | None":
    """Return the known deployment on the network, or None."""
    try:
        return await session.deployment(client)
    except NotFoundError:
        return None


async def _unfinished(session: Session, client: "SuiClient") -> "Deployment | None":
    """Return the deployment that lacks the workflow package, or None if nothing is deployed.

    Raises `package_published` for a complete deployment.
    """
    known = await _known(session, client)
    if known is None or known.workflows_id is None:
        return known
    raise WrongStateError(
        "package_published",
        f"the packages are already published on {client.network.name}: {known.package_id}",
        hint="Pass --republish to publish new packages with their own registries.",
    )


@click.command()
@network_command
async def show(session: Session) -> None:
    """Show the package on the network: its objects, registry settings, and upgrade policy.

    `upgrades` is locked, immutable or free. The code of a free package can change at any time.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registries"):
            tools = await nexus.tools.state()
            leaders = await nexus.leaders.state()
            upgrades = await upgrades_record(session, nexus.client, nexus.deployment.original_id)
        record = dict(nexus.deployment.as_json()) | {
            "version": tools.version.number,
            "tools": tools.fqns.size,
            "accepts_tools": tools.settings.accepting,
            "leaders": leaders.length,
            "accepts_leaders_and_invocations": leaders.settings.accepting,
            "collateral_mist": tools.settings.collateral_mist,
            "unregister_delay_ms": tools.settings.unregister_delay_ms,
            "leader_collateral_mist": leaders.settings.collateral_mist,
            "leader_unregister_delay_ms": leaders.settings.unregister_delay_ms,
            **upgrades,
        }
        record = await in_words(session, nexus.client, record)
    session.output.record(record)


@click.command()
@click.argument("package")
@click.option(
    "--upgrade-lock", metavar="ID", help="ID of the upgrade_lock package to use on the network."
)
@query_command
async def use(session: Session, package: str, *, upgrade_lock: str | None) -> None:
    """Use the published PACKAGE, given by the ID of its first version, from now on.

    The command finds the package's registries and latest version. The command also finds the
    upgrade_lock package that locked PACKAGE at its publication. The command rejects an upgrade_lock
    package that differs from the one in this nexus-tools release, or that is not immutable.
    """
    from nexus_tools.contracts import Deployment, LockDeployment, newest, with_workflows_package
    from nexus_tools.sui.types.address import Address

    async with session.client() as client:
        with session.output.progress("looking for the registries"):
            value = await client.object(Address.parse_whole(package))
            executed = value and await client.transaction(value.previous_transaction)
            if not executed:
                raise NotFoundError(
                    "package_unknown",
                    f"the package {package} does not exist on {client.network.name}",
                    hint="Check the ID, or use a node that keeps the package's transaction.",
                )
            deployment = Deployment.of(executed, await client.chain_id())
            deployment = await newest(client, await with_workflows_package(client, deployment))
            named = Address.parse_whole(upgrade_lock) if upgrade_lock else _locked_by(executed)
            locks = await LockDeployment.find(client, named) if named else None
        if locks is not None:
            session.settings.remember_locks(locks, client.network.name)
        session.settings.remember(deployment, client.network.name)
    session.output.done(f"commands on {client.network.name} now use {deployment.package_id}")
    session.output.record(dict(deployment.as_json()))


def _locked_by(executed: "Executed") -> "Address | None":
    """Return the `upgrade_lock` package that locked the package that a transaction published."""
    for created in executed.created():
        if (created.type.module, created.type.name) == ("upgrade_lock", "UpgradeLock"):
            return created.type.address
    return None
