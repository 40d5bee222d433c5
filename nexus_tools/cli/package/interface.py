"""The command `nexus-tools package interface`, which writes an interface for other packages."""

from pathlib import Path

import click

from nexus_tools.cli.framework import Session, offline_command


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@offline_command
def command(session: Session, folder: Path) -> None:
    """Write the interface of the package nexus_tools into FOLDER, as a Move package.

    The interface declares types and functions without bodies. To depend on the interface, write
    `nexus_tools = { local = "FOLDER" }` in Move.toml. `nexus-tools package publish` links your
    package to the network's nexus_tools.
    """
    written = write_interface(folder)
    session.output.done(f"wrote {len(written)} files to {folder}")
    if session.output.as_json:
        session.output.document({"folder": str(folder), "files": list(map(str, written))})


def write_interface(folder: Path) -> list[Path]:
    """Write the files of the interface, and replace existing files."""
    from nexus_tools.contracts import PACKAGE_NAMES, load_package
    from nexus_tools.sui.localnet.compiler import interface_stubs

    written = []
    for path, text in interface_stubs(PACKAGE_NAMES[0], load_package().modules).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        written.append(place)
    return written
