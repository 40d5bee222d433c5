"""What a stranger's program may touch of the machine, files and network; nothing else is there."""

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

NAMES_PORT = 53
"""Where names are looked up; UDP is refused, so it is done by TCP."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a program has besides its scratch and the system's libraries.

    `reads` and `runtime`, which is what it runs in, it may read and execute, `writes` change too;
    `ports` are those of TCP that it may connect to, of any host: for the kernel knows no hosts.
    `workspace` may be changed too, and is the folder that tools know as theirs. Without `is_on`
    nothing is confined.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    ports: tuple[int, ...] = ()
    workspace: Path | None = None
    is_on: bool = True
    runtime: tuple[Path, ...] = ()

    def reading(self, *places: Path) -> Self:
        """The same, and these files and folders may be read; for a link, what it leads to too."""
        return replace(self, reads=tuple(dict.fromkeys((*self.reads, *_both_ends(places)))))

    def owning(self, *places: Path) -> Self:
        """The same for the places that a tool consists of.

        Raises `UsageError` with code `place_too_wide` if the operator's home is in one of them.
        """
        if self.is_on:
            for place in _both_ends(places):
                _check_width(place)
        return self.reading(*places)

    def writing(self, *places: Path) -> Self:
        """The same, and these folders may be changed."""
        return replace(self, writes=tuple(dict.fromkeys((*self.writes, *places))))

    def connecting(self, *ports: int) -> Self:
        """The same, and these ports may be connected to."""
        return replace(self, ports=tuple(dict.fromkeys((*self.ports, *ports))))

    @property
    def may_change(self) -> tuple[Path, ...]:
        """The folders that it may change, the workspace among them."""
        return (*self.writes, *([self.workspace] if self.workspace else []))

    @property
    def changes_modes(self) -> bool:
        """Whether it may change modes, owners and times of all files of its user.

        It may where the kernel gives it no mounts of its own; which is asked once, and takes 30 ms.
        """
        return not self.is_on or not _has_mounts()

    def check(self) -> None:
        """Raise `UsageError` with code `confinement_unavailable` where the kernel lacks it."""
        if not self.is_on:
            return
        if not confine.is_there():
            raise _unavailable("this system cannot confine borrowed tools")
        if self.ports and landlock.version() < landlock.PORTS_SINCE:
            raise _unavailable("this kernel cannot open single ports to borrowed tools")

    def words(
        self, command: Sequence[str], environment: Mapping[str, str], scratch: Path
    ) -> list[str]:
        """As the watching program is told of it, for a command in its environment."""
        if not self.is_on:
            return ["is_confined=0"]
        reads = [*self.reads, *self.runtime, *_places_of_program(command, environment)]
        return [
            "is_confined=1",
            *(f"reads={place}" for place in reads),
            *(f"writes={place}" for place in (scratch, *self.may_change)),
            *(f"ports={port}" for port in self.ports),
        ]


@cache
def _has_mounts() -> bool:
    """In a process of its own, which it changes for good."""
    module = [standalone.__file__, mounts.__name__]
    command = [sys.executable, "-I", "-S", *module, tempfile.gettempdir()]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - ours


UNCONFINED = Confinement(is_on=False)


def _unavailable(problem: str) -> UsageError:
    return UsageError(
        "confinement_unavailable",
        f"{problem}: they could read your keys and change your files",
        hint="use Linux 5.13 or newer with Landlock (6.7 for --connect), "
        "or serve unconfined with --no-confinement what you trust, as a user without keys",
    )


def _check_width(place: Path) -> None:
    if is_too_wide(place):
        raise UsageError(
            "place_too_wide",
            f"the tool would see all of {place}, and your keys may be in there",
            hint="put the tool into a folder of its own",
        )


def _both_ends(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield place.absolute()
        yield place.resolve()


# --- What a program itself is made of


def _places_of_program(command: Sequence[str], environment: Mapping[str, str]) -> list[Path]:
    """The program's file, what stands beside it in its installation, and the folders of PATH."""
    search_path = environment.get("PATH", os.defpath)
    found = shutil.which(command[0], path=search_path) if command else None
    folders = [Path(folder) for folder in search_path.split(os.pathsep) if folder.startswith("/")]
    own = _installation(Path(found).absolute()) if found else ()
    return [*(folder for folder in folders if not is_too_wide(folder)), *own]


def _installation(program: Path) -> tuple[Path, ...]:
    """A program, and what was installed with it: as of Node, of a venv, or by npm."""
    found = dict.fromkeys(_both_ends([program]))
    for place in list(found):
        found |= dict.fromkeys(_both_ends(npm_packages(place)))
        if place.parent.name == "bin":
            root = place.parent.parent
            beside = ("lib", "lib64", "pyvenv.cfg", "libexec")
            found |= dict.fromkeys(_both_ends(root / name for name in beside))
    return tuple(found)


def npm_packages(file: Path) -> tuple[Path, ...]:
    """The outermost `node_modules` that a file is in, if any: there stands what it imports."""
    return tuple(folder for folder in file.parents if folder.name == "node_modules")[-1:]


_ASK_INTERPRETER = """
import json, sys, sysconfig
print(json.dumps([sys.prefix, sys.base_prefix, sys.executable, *sys.path,
                  *sysconfig.get_paths().values(), sysconfig.get_config_var("LIBDIR") or "/lib"]))
"""


@cache
def interpreter_places(python: Path) -> tuple[Path, ...]:
    """What an interpreter of Python consists of: its installation, its environment, its packages.

    It says so itself, once. An installation that holds a home is not taken as a whole.
    """
    try:
        asked = subprocess.run(  # noqa: S603 - the operator's own interpreter
            [str(python), "-I", "-c", _ASK_INTERPRETER], capture_output=True, timeout=30, check=True
        )
        said = [Path(text) for text in json.loads(asked.stdout) if text.startswith("/")]
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()
    found = dict.fromkeys(_both_ends([python, *said]))
    return tuple(place for place in found if not is_too_wide(place))


def is_too_wide(place: Path) -> bool:
    """Whether a home, or the system, is in there."""
    homes = {home_directory(), Path("/root"), Path("/home")}
    return any(home.is_relative_to(place) for home in homes) or place.name == ".local"


OWN_PLACES = tuple(dict.fromkeys(_both_ends([Path(__file__).parents[1]])))
"""The bridges of this package: what runs beside a tool in Python is in there."""
