"""The files and ports that an untrusted program may use.

The sandbox denies all other files and ports.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

from nexus_tools.bridges.sandbox import standalone
from nexus_tools.bridges.sandbox.watch import confine, landlock, mounts
from nexus_tools.errors import UsageError
from nexus_tools.settings.environment import home_directory

DNS_PORT = 53
"""The port of DNS. UDP is denied, so names are resolved over TCP."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The resources of a program, without its scratch directory and the system's libraries.

    The program may read and execute `reads` and `runtime` (the files of its interpreter), and also
    change `writes`. The program may connect to the TCP `ports` of any host, because the kernel does
    not distinguish hosts. The program may also change `workspace`, the persistent folder of tools.
    If `is_on` is false, the program is not confined.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    ports: tuple[int, ...] = ()
    workspace: Path | None = None
    is_on: bool = True
    runtime: tuple[Path, ...] = ()

    def reading(self, *places: Path) -> Self:
        """Return a copy that may also read these paths, including the targets of links."""
        return replace(self, reads=tuple(dict.fromkeys((*self.reads, *_with_link_targets(places)))))

    def owning(self, *places: Path) -> Self:
        """Return a copy that may also read the paths that a tool consists of.

        Raises:
            UsageError: with code `path_too_broad` if one of the paths contains the operator's home.
        """
        if self.is_on:
            for place in _with_link_targets(places):
                _check_width(place)
        return self.reading(*places)

    def writing(self, *places: Path) -> Self:
        """Return a copy that may also change these folders."""
        return replace(self, writes=tuple(dict.fromkeys((*self.writes, *places))))

    def connecting(self, *ports: int) -> Self:
        """Return a copy that may also connect to these ports."""
        return replace(self, ports=tuple(dict.fromkeys((*self.ports, *ports))))

    @property
    def may_change(self) -> tuple[Path, ...]:
        """The folders that the program may change, including the workspace."""
        return (*self.writes, *([self.workspace] if self.workspace else []))

    @property
    def changes_modes(self) -> bool:
        """Whether the program may change modes, owners, and times of all files of its user.

        The value is true if the kernel does not allow private mounts. The kernel is tested once,
        which takes 30 ms.
        """
        return not self.is_on or not _has_mounts()

    def check(self) -> None:
        """Raise `UsageError` with code `confinement_unavailable` if the kernel cannot confine."""
        if not self.is_on:
            return
        if not confine.is_supported():
            raise _unavailable("this system cannot confine bridged tools")
        if self.ports and landlock.version() < landlock.PORTS_SINCE:
            raise _unavailable("this kernel cannot restrict bridged tools to specific ports")

    def words(
        self, command: Sequence[str], environment: Mapping[str, str], scratch: Path
    ) -> list[str]:
        """Return the confinement arguments for the watch program that starts a command."""
        if not self.is_on:
            return ["is_confined=0"]
        reads = [*self.reads, *self.runtime, *_program_paths(command, environment)]
        return [
            "is_confined=1",
            *(f"reads={place}" for place in reads),
            *(f"writes={place}" for place in (scratch, *self.may_change)),
            *(f"ports={port}" for port in self.ports),
        ]


@cache
def _has_mounts() -> bool:
    """Return whether the kernel allows private mounts, as tested in a separate process.

    The test changes the mounts of its process permanently.
    """
    module = [standalone.__file__, mounts.__name__]
    command = [sys.executable, "-I", "-S", *module, tempfile.gettempdir()]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - ours


UNCONFINED = Confinement(is_on=False)


def _unavailable(problem: str) -> UsageError:
    return UsageError(
        "confinement_unavailable",
        f"{problem}. Without confinement, tools can read your keys and change your files",
        hint="Use Linux 5.13 or newer with Landlock (6.7 for --allow-port). To serve trusted tools "
        "without confinement, pass --no-confinement, and run as a user who has no keys.",
    )


def _check_width(place: Path) -> None:
    if is_too_broad(place):
        raise UsageError(
            "path_too_broad",
            f"the tool could read all of {place}, which may contain your keys",
            hint="Move the tool to a separate folder.",
        )


def _with_link_targets(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield place.absolute()
        yield place.resolve()


# --- The files that a program consists of


def _program_paths(command: Sequence[str], environment: Mapping[str, str]) -> list[Path]:
    """Return the program's file, the files of its installation, and the folders of PATH."""
    search_path = environment.get("PATH", os.defpath)
    program = shutil.which(command[0], path=search_path) if command else None
    folders = [Path(folder) for folder in search_path.split(os.pathsep) if folder.startswith("/")]
    installation = _installation(Path(program).absolute()) if program else ()
    return [*(folder for folder in folders if not is_too_broad(folder)), *installation]


def _installation(program: Path) -> tuple[Path, ...]:
    """Return a program and the files that are installed with it, for example in a virtualenv."""
    paths = dict.fromkeys(_with_link_targets([program]))
    for place in list(paths):
        paths |= dict.fromkeys(_with_link_targets(npm_packages(place)))
        if place.parent.name == "bin":
            root = place.parent.parent
            siblings = ("lib", "lib64", "pyvenv.cfg", "libexec")
            paths |= dict.fromkeys(_with_link_targets(root / name for name in siblings))
    return tuple(paths)


def npm_packages(file: Path) -> tuple[Path, ...]:
    """Return the outermost `node_modules` folder that contains a file and its dependencies."""
    return tuple(folder for folder in file.parents if folder.name == "node_modules")[-1:]


_INTERPRETER_PATHS_SCRIPT = """
import json, sys, sysconfig
print(json.dumps([sys.prefix, sys.base_prefix, sys.executable, *sys.path,
                  *sysconfig.get_paths().values(), sysconfig.get_config_var("LIBDIR") or "/lib"]))
"""


@cache
def interpreter_paths(python: Path) -> tuple[Path, ...]:
    """Return the paths of a Python interpreter: its installation, environment, and packages.

    The interpreter is queried for its paths only once. If an installation contains a home
    directory, only parts of the installation are included.
    """
    try:
        process = subprocess.run(  # noqa: S603 - the operator's own interpreter
            [str(python), "-I", "-c", _INTERPRETER_PATHS_SCRIPT],
            capture_output=True,
            timeout=30,
            check=True,
        )
        reported_paths = [Path(text) for text in json.loads(process.stdout) if text.startswith("/")]
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()
    paths = dict.fromkeys(_with_link_targets([python, *reported_paths]))
    return tuple(place for place in paths if not is_too_broad(place))


def is_too_broad(place: Path) -> bool:
    """Return whether the folder contains a home directory or the whole system."""
    homes = {home_directory(), Path("/root"), Path("/home")}
    return any(home.is_relative_to(place) for home in homes) or place.name == ".local"


BRIDGE_PATHS = tuple(dict.fromkeys(_with_link_targets([Path(__file__).parents[1]])))
"""The folder of the bridges, which contains the modules that run beside a tool in Python."""
