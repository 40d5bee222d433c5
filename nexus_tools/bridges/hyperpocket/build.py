"""Builds of tools: copies of their folders, what is run once for a content, and when."""

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from anyio import CapacityLimiter, Event, to_thread

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.hyperpocket.background_tasks import Background
from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.bridges.hyperpocket.runtime import Language
from nexus_tools.bridges.redaction import SECRET_NAME, Redaction
from nexus_tools.bridges.sandbox import (
    NAMES_PORT,
    Confinement,
    Finished,
    ProcessLimits,
    Scratch,
    environment_of,
    run,
)
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.sui.support.logs import get_logger

MAX_BYTES = 64 * 2**20
MAX_FILES = 5_000

# What other runs and other machines have left in a folder is no part of the tool.
_ASIDE = {".git", "__pycache__", "node_modules", ".venv", "venv", ".pytest_cache", ".ruff_cache"}


def copy_sources(source: Path, target: Path) -> str:
    """Copy a tool's folder to the new folder `target`, and give the SHA-256 of what is in it.

    Links out of the folder are left out. Raises `UsageError` (`tool_too_large`) for more than
    64 MiB or 5 000 files.
    """
    root = source.resolve()
    files = list(islice(_files(root), MAX_FILES + 1))
    if len(files) > MAX_FILES or sum(path.stat().st_size for path in files) > MAX_BYTES:
        message = f"the folder {source} has more than {MAX_BYTES} bytes or {MAX_FILES} files"
        raise UsageError("tool_too_large", message, hint="keep data out of the tool's folder")
    digest = hashlib.sha256()
    target.mkdir(mode=0o700, parents=True)
    for path in files:
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        executable = path.stat().st_mode & stat.S_IXUSR
        place.chmod(0o700 if executable else 0o600)
        digest.update(_line(path.relative_to(root), bool(executable), place))
    return digest.hexdigest()


def private_copy(built: Path, sources: frozenset[str], target: Path) -> None:
    """Fill `target` for one call: copies of the tool's own files, links to what its build made.

    `sources` are the names that its folder had at the top before it was built.
    """
    for entry in sorted(built.iterdir()):
        place = target / entry.name
        if entry.name not in sources:
            place.symlink_to(entry)
        elif entry.is_dir():
            shutil.copytree(entry, place, symlinks=True)
        else:
            shutil.copy2(entry, place)


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _ASIDE)
        for name in sorted(names):
            path = Path(folder, name)
            # A pipe or device would block; a link may lead to what is none of the tool's business.
            if path.is_file() and path.resolve().is_relative_to(root):
                yield path


def _line(relative: Path, executable: bool, place: Path) -> bytes:
    with place.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{os.fspath(relative)}\0{int(executable)}\0{content}\n".encode(
        "utf-8", "surrogateescape"
    )


# --- Building


BUILD_LIMITS = ProcessLimits(
    time_ms=900_000,
    memory_bytes=4 * 2**30,
    output_bytes=64 * 2**20,
    disk_bytes=4 * 2**30,
    files=200_000,
    processes=256,
)

# The operator's settings for package managers, which may hold passwords: for the build only.
_SETTINGS = ("pip_", "uv_", "npm_config_")
_PROXY = "_proxy"
_SETTINGS_FILES = (Path("/etc/pip.conf"), Path("/etc/npmrc"))
_PORT = re.compile(r"://[^\s/]*:([0-9]{1,5})(?=[\s/]|$)")
_LOGIN = re.compile(r"://([^\s/?#]+)@")
_QUERY = re.compile(r"://[^\s?#]*\?([^\s#]+)")

_log = get_logger("nexus_tools.bridges")


@dataclass(frozen=True, slots=True)
class Built:
    """A folder in the cache: `tool` is the built copy, `venv` its environment in Python."""

    folder: Path
    language: Language
    sources: frozenset[str]

    @property
    def tool(self) -> Path:
        """The copy of the tool's folder in which its build ran."""
        return self.folder / "tool"

    def environment(self, host: Host) -> dict[str, str]:
        """What makes programs of the tool's environment be found first."""
        if self.language is not Language.PYTHON:
            return {}
        venv = self.folder / "venv"
        path = host.environment.get("PATH", os.defpath)
        return {"PATH": f"{venv / 'bin'}{os.pathsep}{path}", "VIRTUAL_ENV": str(venv)}


class BuildFailedError(NexusError):
    """A step of a build did not succeed; `log` is the end of what it printed."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__("build_failed", reason)
        self.log = log


class Build:
    """The build of one tool: not yet begun, made, or failed."""

    def __init__(self, source: Path, manifest: Manifest, language: Language, host: Host) -> None:
        self.source = source
        self.built: Built | None = None
        self.failure: NexusError | None = None
        self._manifest = manifest
        self._language = language
        self._host = host
        self._ended: Event | None = None

    def announce(self) -> None:
        """From now on it is waited for, by `ended`."""
        self._ended = Event()

    async def ended(self) -> None:
        """Wait until it is made or has failed; at once if nobody makes it."""
        if self._ended is not None:
            await self._ended.wait()

    async def make(self) -> None:
        """Build, or take what has been built before; a failure is kept, and not raised."""
        self.failure = None
        try:
            self.built = await self._make()
        except (NexusError, OSError) as error:
            name, log = self._manifest.declaration.name, getattr(error, "log", None)
            _log.warning("build_failed", tool=name, reason=str(error), log=log)
            self.failure = error if isinstance(error, NexusError) else _unreadable(error)
        finally:
            if self._ended is not None:
                self._ended.set()

    async def _make(self) -> Built:
        cache = self._host.cache / "hyperpocket"
        await to_thread.run_sync(lambda: cache.mkdir(mode=0o700, parents=True, exist_ok=True))
        folder = Path(await to_thread.run_sync(lambda: tempfile.mkdtemp(dir=cache.resolve())))
        is_kept = False
        try:
            content = await to_thread.run_sync(copy_sources, self.source, folder / "tool")
            sources = frozenset(entry.name for entry in (folder / "tool").iterdir())
            pointer = cache / f"{self._digest(content)}.json"
            known = _known(pointer)
            if known is not None:
                return Built(known, self._language, sources)
            built = Built(folder, self._language, sources)
            await self._run_steps(built)
            _publish(pointer, folder)
            is_kept = True
            return built
        finally:
            if not is_kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _digest(self, content: str) -> str:
        """What the result of a build depends on, as far as it is ours to know."""
        parts = [
            content,
            self._manifest.build,
            self._language,
            str(self._host.python),
            sys.platform,
        ]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    async def _run_steps(self, built: Built) -> None:
        if self._language is Language.PYTHON:
            python = str(self._host.python)
            await self._step([python, "-I", "-m", "venv", str(built.folder / "venv")], built)
        if self._manifest.build:
            await self._step(["/bin/sh", "-c", self._manifest.build], built)

    async def _step(self, command: list[str], built: Built) -> None:
        async with Scratch(self._host.scratch) as scratch:
            finished = await run(
                command,
                scratch=scratch,
                environment=environment_of(
                    self._host,
                    scratch=scratch,
                    declared=build_settings(self._host),
                    extra=built.environment(self._host),
                ),
                limits=BUILD_LIMITS,
                confinement=_confinement(self._host, built),
                directory=built.tool,
            )
        _check(Redaction.of(_secrets(self._host)).finished(finished))


def build_settings(host: Host) -> list[str]:
    """The names of the operator's variables that package managers read."""
    return [
        name
        for name in host.environment
        if name.lower().startswith(_SETTINGS) or name.lower().endswith(_PROXY)
    ]


def _secrets(host: Host) -> Iterator[str]:
    """Yield the secrets among the settings: tokens and passwords, also those in URLs."""
    for name in build_settings(host):
        value = host.environment[name]
        if SECRET_NAME.search(name):
            yield value
        yield from _QUERY.findall(value)
        for written in _LOGIN.findall(value):
            # A login without a password is a token.
            for login in (written, unquote(written)):
                yield login
                yield from login.split(":", 1)[1:]


# Where packages come from, and where names are looked up.
_PORTS = (NAMES_PORT, 80, 443)


def _confinement(host: Host, built: Built) -> Confinement:
    """A build may change its folder, and fetch packages as the operator's settings say."""
    settings = [host.environment[name] for name in build_settings(host)]
    ports = [int(port) for text in settings for port in _PORT.findall(text)]
    confined = host.confined().reading(*_SETTINGS_FILES).writing(built.folder)
    return confined.connecting(*_PORTS, *ports)


def _check(finished: Finished) -> None:
    if finished.exit_code != 0:
        raise BuildFailedError(f"its build failed: {finished.reason()}", finished.log())


def _unreadable(error: OSError) -> NexusError:
    return NexusError("build_failed", f"its folder could not be copied: {error.strerror}")


def _known(pointer: Path) -> Path | None:
    try:
        folder = Path(json.loads(pointer.read_bytes())["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return folder if (folder / "tool").is_dir() else None


def _publish(pointer: Path, folder: Path) -> None:
    """Tell the next one where it is. An environment cannot be moved: it stays where it was made."""
    new = folder / "built.json"
    new.write_text(json.dumps({"folder": str(folder)}))
    new.replace(pointer)


# --- When


AT_ONCE = 2


class Workshop:
    """Makes the builds of all tools of a bridge, which share its places."""

    def __init__(self) -> None:
        self._open = 0
        self._places: CapacityLimiter | None = None

    @asynccontextmanager
    async def building(self, builds: Iterable[Build]) -> AsyncIterator[None]:
        """The time in which these are built; what is not done at its end is given up."""
        # The places belong to the event loop of those who use them.
        places = self._places if self._open and self._places else CapacityLimiter(AT_ONCE)
        self._places = places
        self._open += 1

        async def make(build: Build) -> None:
            async with places:
                await build.make()

        try:
            async with Background().running() as background:
                for build in builds:
                    build.announce()
                    background.start(make(build))
                yield
        finally:
            self._open -= 1
