"""The compiler that builds Move packages for the commands, and where our own package is."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.localnet.compiler import MoveBuilder

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def move_builder(session: Session) -> "MoveBuilder":
    """The compiler; the first time it is fetched with `npm`."""
    from nexus_tools.localnet.compiler import MoveBuilder

    return MoveBuilder.installed(session.settings.cache_directory)


def our_sources() -> Path:
    """The folder of our own package. Raises `sources_missing` outside a checkout."""
    folder = Path(__file__).parents[3] / "move" / "nexus_tools"
    if not folder.is_dir():
        raise NotFoundError(
            "sources_missing",
            "the sources of our Move package are not installed with nexus-tools",
            hint="name a folder, or run this in a checkout",
        )
    return folder
