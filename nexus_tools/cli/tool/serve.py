"""`nexus-tools tool serve`: tools over HTTP."""

import traceback
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Serving, Session, local, serves
from nexus_tools.errors import NexusError, UsageError

if TYPE_CHECKING:
    from nexus_tools.toolkit import ToolServer


@click.command()
@click.argument("target")
@serves
@local
def command(session: Session, *, target: str, serving: Serving) -> None:
    """Serve the tools of TARGET until Ctrl-C.

    TARGET is `package.module`, `path/to/file.py`, or one of their attributes: `tools.py:add`.
    """
    serving.run(_load(target, serving.public_url), session.output)


def _load(target: str, public_url: str | None) -> "ToolServer":
    """The server of a target. Raises as `load` does, and `target_broken`."""
    from nexus_tools.toolkit import load

    try:
        return load(target, public_url=public_url)
    except NexusError:
        raise
    except Exception as error:  # the module is the author's, and may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageError(
            "target_broken",
            f"{target} cannot be imported: {type(error).__name__}: {error}",
            hint=f"see {place.filename}, line {place.lineno}",
        ) from error
