"""`nexus-tools package`: the Move package of registries and invocations."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import local, reads, writes
from nexus_tools.cli.sent import asked, carry_out, report
from nexus_tools.cli.session import Session
from nexus_tools.errors import NotFoundError, NotNowError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.client import SuiClient
    from nexus_tools.registry import Deployment

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Publish and inspect the Move package.

    Commands remember for each network where it is published.
    """


@command.command()
@click.option("--again", is_flag=True, help="Publish another one, although one is known.")
@writes
async def publish(session: Session, *, again: bool) -> None:
    """Publish the package that comes with nexus-tools.

    The key that signs gets the AdminCap and the UpgradeCap.
    """
    from nexus_tools.registry import Publisher, load_package  # noqa: PLC0415 - not for `--help`

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
        session.remember(result.deployment, network)
        record = _record(result.deployment)
    report(session.output, result.sent, f"published the package on {network}", record)


@command.command()
@writes
async def upgrade(session: Session) -> None:
    """Publish the package that comes with nexus-tools as the next version of the published one.

    Then it migrates the registries: from then on they refuse the calls of older versions. It needs
    the key with the UpgradeCap and the AdminCap.
    """
    from nexus_tools.cli.package_upgrade import upgrade_package  # noqa: PLC0415

    await upgrade_package(session)


@command.command()
@reads
async def show(session: Session) -> None:
    """Show the package on the network: its objects and what its registries ask for."""
    from nexus_tools.registry import LeaderRegistry, ToolRegistry  # noqa: PLC0415

    async with session.client() as client:
        with session.output.progress("reading the registries"):
            deployment = await session.deployment(client)
            tools = await ToolRegistry(client, deployment).state()
            leaders = await LeaderRegistry(client, deployment).state()
    record = _record(deployment) | {
        "version": tools.version,
        "tools": tools.fqns.size,
        "leaders": leaders.leaders.size,
        "active_leaders": len(leaders.active),
        "collateral_mist": tools.settings.collateral_mist,
        "unregister_delay_ms": tools.settings.unregister_delay_ms,
        "leader_bond_mist": leaders.settings.bond_mist,
        "settle_fee_mist": leaders.settings.settle_fee_mist,
    }
    session.output.record(record if session.output.as_json else units.in_words(record))


@command.command()
@click.argument("package")
@reads
async def use(session: Session, package: str) -> None:
    """Use the published PACKAGE (its first version) from now on.

    Its registries and its newest version are found.
    """
    from nexus_tools.registry import Deployment, newest  # noqa: PLC0415 - not for `--help`
    from nexus_tools.sui.address import Address  # noqa: PLC0415

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
        session.remember(deployment, client.network.name)
    session.output.done(f"commands on {client.network.name} use {deployment.package_id}")
    session.output.record(_record(deployment))


@command.command()
@click.argument("folder", type=_FOLDER, required=False)
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), help="Write the modules here."
)
@click.option("--framework", type=_FOLDER, help="Sources of the Sui framework, for its macros.")
@local
def build(
    session: Session, folder: Path | None, output: Path | None, framework: Path | None
) -> None:
    """Compile the Move package in FOLDER; without it, our own, and compare it with what we ship.

    The compiler is the genuine one as WebAssembly; the first time it is fetched with `npm`.
    """
    from nexus_tools.localnet.bytecode import deserialize  # noqa: PLC0415 - not for `--help`
    from nexus_tools.localnet.compiler import (  # noqa: PLC0415
        MoveBuilder,
        install_builder,
        read_sources,
    )

    source = folder or _our_sources()
    cache = session.settings.cache_directory
    with session.output.progress(f"compiling {source}"):
        builder = MoveBuilder(install_builder(cache / "sui-move-builder"), cache / "wasmtime")
        built = builder.build(read_sources(source), framework)
    modules = {deserialize(module).name: module for module in built.modules}
    if built.warnings:
        session.output.warn(built.warnings)
    record: dict[str, Any] = {
        "folder": str(source),
        "modules": list(modules),
        "digest": built.digest.hex(),
        "dependencies": [f"0x{dependency.hex()}" for dependency in built.dependencies],
    }
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, module in modules.items():
            (output / f"{name}.mv").write_bytes(module)
        record["output"] = str(output)
    session.output.done(f"compiled {len(modules)} modules of {source}")
    session.output.record(record)
    if folder is None:
        _compare(session, built.modules)


@command.command()
@click.argument("folder", type=_FOLDER, required=False)
@click.option("--filter", "names", default="", help="Only tests whose module::name contains this.")
@click.option("--list", "listed", is_flag=True, help="List the tests, and run none.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds that one test may take.",
)
@click.option(
    "--gas-limit",
    type=click.IntRange(min=1),
    default=200_000_000,
    show_default=True,
    help="Instructions that one test may take.",
)
@click.option("--seed", type=int, help="Where the arguments of random tests come from.")
@click.option("--coverage", is_flag=True, help="Show which lines the tests have passed.")
@click.option(
    "--coverage-report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the coverage here, as LCOV.",
)
@local
def test(
    session: Session,
    folder: Path | None,
    *,
    names: str,
    listed: bool,
    timeout: float,
    gas_limit: int,
    seed: int | None,
    coverage: bool,
    coverage_report: Path | None,
) -> None:
    """Run the unit tests of the Move package in FOLDER; without it, of our own.

    They run in the VM of the localnet. The compiler is fetched with `npm` the first time.
    """
    from nexus_tools.cli.package_test import (  # noqa: PLC0415 - not for `--help`
        Selection,
        run_package_tests,
    )

    selection = Selection(
        names,
        listed,
        timeout,
        gas_limit,
        seed,
        covers=coverage or coverage_report is not None,
        coverage_report=coverage_report,
    )
    run_package_tests(session, folder or _our_sources(), selection)


def _our_sources() -> Path:
    folder = Path(__file__).parents[2] / "move" / "nexus_tools"
    if not folder.is_dir():
        raise NotFoundError(
            "sources_missing",
            "the sources of our Move package are not installed with nexus-tools",
            hint="name a folder, or run this in a checkout",
        )
    return folder


def _compare(session: Session, modules: tuple[bytes, ...]) -> None:
    from nexus_tools.registry import load_package  # noqa: PLC0415 - not for `--help`

    if modules != load_package().modules:
        raise ValidationError(
            "bytecode_differs",
            "the sources do not compile to the bytecode that comes with nexus-tools",
            hint="the sources were changed since, or the compiler is another one",
        )
    session.output.done("the sources compile to the bytecode that comes with nexus-tools")


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


def _record(deployment: "Deployment") -> dict[str, Any]:
    return dict(deployment.as_json())
