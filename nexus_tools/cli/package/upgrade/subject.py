"""The modules of an upgrade, from a folder or from the packages that come with nexus-tools."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session
from nexus_tools.cli.package.compiler import FOLDER, Compilation
from nexus_tools.cli.package.lock import part_of
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.contracts import CompiledPackage

SOURCES = click.option(
    "--folder",
    type=FOLDER,
    help="Folder of the upgraded Move package. Not needed for the packages of nexus-tools.",
)
"""The option of commands that need the modules of an upgrade."""


async def compiled_upgrade(
    session: Session, package: str | None, folder: Path | None, compilation: Compilation
) -> "CompiledPackage":
    """Return the modules of an upgrade. Raises `folder_missing`, or as the compiler does."""
    from nexus_tools.contracts import PackageKind, load_package, load_workflows, newest

    if folder is not None:
        with session.output.progress(f"compiling {folder}"):
            return await asyncio.to_thread(compiled_folder, session, folder, compilation)
    part = part_of(package)
    if part is PackageKind.TOOLS:
        return load_package()
    if part is PackageKind.WORKFLOWS:
        async with session.client() as client:
            deployment = await newest(client, await session.deployment(client))
        return load_workflows(deployment.package)
    raise UsageError(
        "folder_missing",
        f"the upgrade of {package} requires the upgraded sources",
        hint="Pass the folder of the sources with --folder FOLDER.",
    )


def compiled_folder(session: Session, folder: Path, compilation: Compilation) -> "CompiledPackage":
    """Compile the package in a folder, outside of an event loop."""
    from nexus_tools.contracts import CompiledPackage
    from nexus_tools.sui.localnet.compiler import build_to_publish
    from nexus_tools.sui.types.address import Address

    builder = compilation.builder(session)
    built = build_to_publish(builder, folder, checkouts=compilation.checkouts)
    return CompiledPackage(built.modules, tuple(map(Address, built.dependencies)), built.digest)
