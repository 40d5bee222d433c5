"""What the `bridge` commands share: where tools are borrowed from, and on which terms."""

import functools
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.systems import Systems, system_options
from nexus_tools.cli.framework import DURATION, Session, picks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nexus_tools.bridges import Discovery, Host, ProcessLimits
    from nexus_tools.tool import FqnPatterns

_PLACE = click.Path(exists=True, path_type=Path)
_OPTIONS = (
    click.option("--domain", help="The domain of the FQNs; `local.SYSTEM` by default."),
    click.option(
        "--tool-version",
        type=click.IntRange(1, 2**32 - 1),
        default=1,
        show_default=True,
        help="The version in the FQNs.",
    ),
    click.option(
        "--python",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The interpreter that runs tools in Python, as of a virtual environment of theirs.",
    ),
    click.option("--share-env", multiple=True, metavar="NAME", help="Let tools see this variable."),
    click.option(
        "--timeout",
        type=DURATION,
        default="10s",
        show_default=True,
        help="How long a call may take, 1s to 2m.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(min=16),
        default=2_048,
        show_default=True,
        metavar="MIB",
        help="What the processes of a call may take together, in MiB.",
    ),
    click.option(
        "--disk",
        type=click.IntRange(min=1),
        default=256,
        show_default=True,
        metavar="MIB",
        help="What a call may write into its directory, in MiB.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(min=1),
        default=64,
        show_default=True,
        help="How many processes a call may have.",
    ),
)


@dataclass(frozen=True, slots=True)
class Borrowing:
    """Places, names and limits, as the options say them. `timeout` is in ms, sizes in MiB."""

    places: tuple[Path, ...]
    domain: str | None
    tool_version: int
    python: Path | None
    share_env: tuple[str, ...]
    timeout: int
    memory: int
    disk: int
    processes: int
    systems: Systems
    patterns: "FqnPatterns"

    async def discover(self, session: Session, host: "Host") -> "Discovery":
        """The tools in the places that pass. Raises as `nexus_tools.bridges.discover` does."""
        from nexus_tools.bridges import Naming, discover

        bridges = self.systems.bridges(session.settings)
        with session.output.progress("looking for tools"):
            naming = Naming(self.domain, self.tool_version)
            found = await discover(self.places, bridges, host, naming)
        return found.chosen(self.patterns)

    @contextmanager
    def host(self, session: Session) -> "Iterator[Host]":
        """This machine, with a scratch directory that is removed in the end."""
        from nexus_tools.bridges import Host

        with tempfile.TemporaryDirectory(prefix="nexus-tools-bridge-") as scratch:
            yield Host(
                # Not resolved: an interpreter of a virtual environment is a link.
                python=(self.python or Path(sys.executable)).absolute(),
                scratch=Path(scratch),
                cache=session.settings.cache_directory / "bridges",
                environment=dict(os.environ),
                shared=frozenset(self.share_env),
                limits=self._limits(),
                timeout_ms=self.timeout,
            )

    def _limits(self) -> "ProcessLimits":
        from nexus_tools.bridges import ProcessLimits

        return ProcessLimits(
            time_ms=self.timeout,
            memory_bytes=self.memory * 2**20,
            disk_bytes=self.disk * 2**20,
            processes=self.processes,
        )


def borrows(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command on tools of other systems: gets a `Borrowing` as `borrowing`."""
    return _places(required=True)(_borrowing(command))


def may_borrow(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of a command that needs no place."""
    return _places(required=False)(_borrowing(command))


def _places(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    metavar = "PATH..." if required else "[PATH]..."
    return click.argument("places", metavar=metavar, nargs=-1, required=required, type=_PLACE)


def _borrowing(command: Callable[..., Any]) -> Callable[..., Any]:

    @picks
    @system_options
    @functools.wraps(command)
    def wrapped(*args: Any, systems: Systems, **kwargs: Any) -> Any:
        names = Borrowing.__dataclass_fields__.keys() - {"systems"}
        mine = {name: kwargs.pop(name) for name in names}
        return command(*args, borrowing=Borrowing(**mine, systems=systems), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
