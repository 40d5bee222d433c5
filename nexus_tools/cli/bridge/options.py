"""The shared options of the `bridge` commands: paths, names, permissions and limits."""

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Collection
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.systems import Systems, system_options
from nexus_tools.cli.framework import DURATION, Session, name_filter_options
from nexus_tools.errors import UsageError
from nexus_tools.settings.environment import PASSPHRASE, SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nexus_tools.bridges import BridgeHost, Confinement, Discovery, ProcessLimits
    from nexus_tools.settings.settings import Settings
    from nexus_tools.tool import FqnPatterns

_PLACE = click.Path(exists=True, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OPTIONS = (
    click.option("--domain", help="Domain of the FQNs. Default: `local.SYSTEM`."),
    click.option(
        "--tool-version",
        type=click.IntRange(1, 2**32 - 1),
        default=1,
        show_default=True,
        help="Version in the FQNs.",
    ),
    click.option(
        "--python",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Python interpreter of the tools, for example of their virtual environment.",
    ),
    click.option(
        "--allow-env",
        multiple=True,
        metavar="NAME",
        help="Environment variable that tools may read. May be repeated.",
    ),
    click.option(
        "--workspace",
        type=_FOLDER,
        help="Persistent working folder that tools may change.",
    ),
    click.option(
        "--allow-read",
        multiple=True,
        type=_PLACE,
        help="File or folder that tools may read. May be repeated.",
    ),
    click.option(
        "--allow-write",
        multiple=True,
        type=_FOLDER,
        help="Folder that tools may change. May be repeated.",
    ),
    click.option(
        "--allow-port",
        multiple=True,
        type=click.IntRange(1, 65_535),
        metavar="PORT",
        help="TCP port that tools may connect to on any host, for example 443. Also allows DNS."
        " May be repeated.",
    ),
    click.option(
        "--no-confinement",
        is_flag=True,
        help="Disable the sandbox. Tools can then read your keys, change your files, and reach any"
        " host.",
    ),
    click.option(
        "--timeout",
        type=DURATION,
        default="10s",
        show_default=True,
        help="Maximum time of a call, 1s to 2m.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(min=16),
        default=2_048,
        show_default=True,
        metavar="MIB",
        help="Maximum memory of all processes of a call, in MiB.",
    ),
    click.option(
        "--disk",
        type=click.IntRange(min=1),
        default=256,
        show_default=True,
        metavar="MIB",
        help="Maximum size of the files in a call's directory, in MiB.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(min=1),
        default=64,
        show_default=True,
        help="Maximum number of processes of a call.",
    ),
)


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """The values of the bridge options. `timeout` is in ms, and sizes are in MiB."""

    places: tuple[Path, ...]
    domain: str | None
    tool_version: int
    python: Path | None
    allow_env: tuple[str, ...]
    workspace: Path | None
    allow_read: tuple[Path, ...]
    allow_write: tuple[Path, ...]
    allow_port: tuple[int, ...]
    no_confinement: bool
    timeout: int
    memory: int
    disk: int
    processes: int
    systems: Systems
    patterns: "FqnPatterns"

    async def discover(self, session: Session, host: "BridgeHost") -> "Discovery":
        """Return the selected tools in the paths. Raises the errors of `bridges.discover`."""
        from nexus_tools.bridges import Naming, discover

        bridges = self.systems.bridges(session.settings)
        with session.output.progress("discovering tools"):
            naming = Naming(self.domain, self.tool_version)
            found = await discover(self.places, bridges, host, naming)
        return found.select(self.patterns)

    @contextmanager
    def host(self, session: Session) -> "Iterator[BridgeHost]":
        """Provide the `BridgeHost` of this machine, and remove its scratch directory at the end."""
        from nexus_tools.bridges import BridgeHost

        _check_shared(self.allow_env)
        confinement = self._confinement(session.settings)
        with tempfile.TemporaryDirectory(prefix="nexus-tools-bridge-") as scratch:
            yield BridgeHost(
                # Do not resolve links, because a virtual environment links its interpreter.
                python=(self.python or Path(sys.executable)).absolute(),
                scratch=Path(scratch),
                cache=session.settings.cache_directory / "bridges",
                environment=dict(os.environ),
                shared=frozenset(self.allow_env),
                limits=self._limits(),
                timeout_ms=self.timeout,
                confinement=confinement,
            )

    def _confinement(self, settings: "Settings") -> "Confinement":
        """Return the sandbox. Raises `keys_exposed` and `confinement_unavailable`."""
        from nexus_tools.bridges import DNS_PORT, Confinement

        confinement = Confinement(
            reads=tuple(place.resolve() for place in self.allow_read),
            writes=tuple(place.resolve() for place in self.allow_write),
            ports=(DNS_PORT, *self.allow_port) if self.allow_port else (),
            workspace=self.workspace.resolve() if self.workspace else None,
            is_on=not self.no_confinement,
        )
        if confinement.is_on:
            for place in (*confinement.reads, *confinement.may_change):
                _check_keys(place, settings)
        confinement.check()
        return confinement

    def _limits(self) -> "ProcessLimits":
        from nexus_tools.bridges import ProcessLimits

        return ProcessLimits(
            time_ms=self.timeout,
            memory_bytes=self.memory * 2**20,
            disk_bytes=self.disk * 2**20,
            processes=self.processes,
        )


def _check_shared(names: Collection[str]) -> None:
    """Raise `keys_exposed` for a variable that contains a passphrase or a secret key."""
    for name in sorted({PASSPHRASE, SECRET}.intersection(names)):
        raise UsageError(
            "keys_exposed",
            f"{name} gives tools access to your keys",
            hint=f"Remove `--allow-env {name}`.",
        )


def _check_keys(place: Path, settings: "Settings") -> None:
    for keys in (settings.keystore, settings.data_directory):
        if keys.resolve().is_relative_to(place) or place.is_relative_to(keys.resolve()):
            raise UsageError(
                "keys_exposed",
                f"{place} gives tools access to your keys in {keys}",
                hint="Pass a folder without keys.",
            )


def bridge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command for bridged tools to receive `BridgeOptions` as `bridge`."""
    return _places(required=True)(_borrowing(command))


def optional_bridge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command for bridged tools like `bridge_options`, with optional paths."""
    return _places(required=False)(_borrowing(command))


def _places(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    metavar = "PATH..." if required else "[PATH]..."
    return click.argument("places", metavar=metavar, nargs=-1, required=required, type=_PLACE)


def _borrowing(command: Callable[..., Any]) -> Callable[..., Any]:

    @name_filter_options
    @system_options
    @functools.wraps(command)
    def wrapped(*args: Any, systems: Systems, **kwargs: Any) -> Any:
        names = BridgeOptions.__dataclass_fields__.keys() - {"systems"}
        mine = {name: kwargs.pop(name) for name in names}
        return command(*args, bridge=BridgeOptions(**mine, systems=systems), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
