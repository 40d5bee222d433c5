"""The builder of packaged tools, which builds copies of their folders and caches the results."""

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

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.hyperpocket.background_tasks import BackgroundTasks
from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.bridges.hyperpocket.runtime import Language
from nexus_tools.bridges.redaction import SECRET_NAME, Redaction
from nexus_tools.bridges.sandbox import (
    DNS_PORT,
    Confinement,
    ProcessLimits,
    ProcessResult,
    ScratchDirectory,
    environment_of,
    run,
)
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.sui.support.logs import get_logger

MAX_BYTES = 64 * 2**20
MAX_FILES = 5_000

# Folders with generated files, which are not part of the tool's sources.
_SKIPPED_FOLDERS = {
    ".git",
    "__pycache__",
    "node_modules",
    ".venv",
    "venv",
    ".pytest_cache",
    ".ruff_cache",
}


def copy_sources(source: Path, target: Path) -> str:
    """Copy a tool's folder to the new folder `target`, and return the SHA-256 of its content.

    Links to files outside the folder are omitted.

    Raises:
        UsageError: with code `tool_too_large` for more than 64 MiB or 5 000 files.
    """
    root = source.resolve()
    files = list(islice(_files(root), MAX_FILES + 1))
    if len(files) > MAX_FILES or sum(path.stat().st_size for path in files) > MAX_BYTES:
        message = f"the folder {source} exceeds {MAX_BYTES} bytes or {MAX_FILES} files"
        raise UsageError("tool_too_large", message, hint="Move data out of the tool's folder.")
    digest = hashlib.sha256()
    target.mkdir(mode=0o700, parents=True)
    for path in files:
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        executable = path.stat().st_mode & stat.S_IXUSR
        place.chmod(0o700 if executable else 0o600)
        digest.update(_digest_line(path.relative_to(root), bool(executable), place))
    return digest.hexdigest()


def copy_for_call(built: Path, sources: frozenset[str], target: Path) -> None:
    """Fill `target` for one call with copies of the tool's files and links to its build results.

    `sources` lists the top-level names of the tool's folder before the build.
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
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            # A pipe or device would block, and a link may lead to files outside the tool's folder.
            if path.is_file() and path.resolve().is_relative_to(root):
                yield path


def _digest_line(relative: Path, executable: bool, place: Path) -> bytes:
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

# The operator's settings for package managers. Settings may contain passwords, so only builds
# receive them.
_SETTINGS = ("pip_", "uv_", "npm_config_")
_PROXY = "_proxy"
_SETTINGS_FILES = (Path("/etc/pip.conf"), Path("/etc/npmrc"))
_PORT = re.compile(r"://[^\s/]*:([0-9]{1,5})(?=[\s/]|$)")
_LOGIN = re.compile(r"://([^\s/?#]+)@")
_QUERY = re.compile(r"://[^\s?#]*\?([^\s#]+)")

_log = get_logger("nexus_tools.bridges")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """A folder in the cache: `tool` is the built copy, and `venv` is its Python environment."""

    folder: Path
    language: Language
    sources: frozenset[str]

    @property
    def tool(self) -> Path:
        """The copy of the tool's folder in which the build ran."""
        return self.folder / "tool"

    def environment(self, host: BridgeHost) -> dict[str, str]:
        """Return the variables that put the programs of the tool's environment first on PATH."""
        if self.language is not Language.PYTHON:
            return {}
        venv = self.folder / "venv"
        path = host.environment.get("PATH", os.defpath)
        return {"PATH": f"{venv / 'bin'}{os.pathsep}{path}", "VIRTUAL_ENV": str(venv)}


class BuildFailedError(NexusError):
    """The error of a failed step of a build. `log` is the end of the step's output."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__("build_failed", reason)
        self.log = log


class Build:
    """The build of one tool: not started, complete, or failed."""

    def __init__(
        self, source: Path, manifest: Manifest, language: Language, host: BridgeHost
    ) -> None:
        self.source = source
        self.built: BuildResult | None = None
        self.failure: NexusError | None = None
        self._manifest = manifest
        self._language = language
        self._host = host
        self._ended: Event | None = None

    def announce(self) -> None:
        """Make `ended` wait for this build from now on."""
        self._ended = Event()

    async def ended(self) -> None:
        """Wait until the build is complete or has failed.

        Return immediately if no build is planned.
        """
        if self._ended is not None:
            await self._ended.wait()

    async def make(self) -> None:
        """Build the tool or reuse an earlier build. A failure is stored and not raised."""
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

    async def _make(self) -> BuildResult:
        cache = self._host.cache / "hyperpocket"
        await to_thread.run_sync(lambda: cache.mkdir(mode=0o700, parents=True, exist_ok=True))
        folder = Path(await to_thread.run_sync(lambda: tempfile.mkdtemp(dir=cache.resolve())))
        is_published = False
        try:
            content = await to_thread.run_sync(copy_sources, self.source, folder / "tool")
            sources = frozenset(entry.name for entry in (folder / "tool").iterdir())
            pointer = cache / f"{self._digest(content)}.json"
            cached_folder = _cached_build(pointer)
            if cached_folder is not None:
                return BuildResult(cached_folder, self._language, sources)
            built = BuildResult(folder, self._language, sources)
            await self._run_steps(built)
            _publish(pointer, folder)
            is_published = True
            return built
        finally:
            if not is_published:
                shutil.rmtree(folder, ignore_errors=True)

    def _digest(self, content: str) -> str:
        """Return a digest of the known inputs that determine the result of the build."""
        parts = [
            content,
            self._manifest.build,
            self._language,
            str(self._host.python),
            sys.platform,
        ]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    async def _run_steps(self, built: BuildResult) -> None:
        if self._language is Language.PYTHON:
            python = str(self._host.python)
            await self._step([python, "-I", "-m", "venv", str(built.folder / "venv")], built)
        if self._manifest.build:
            await self._step(["/bin/sh", "-c", self._manifest.build], built)

    async def _step(self, command: list[str], built: BuildResult) -> None:
        async with ScratchDirectory(self._host.scratch) as scratch:
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


def build_settings(host: BridgeHost) -> list[str]:
    """Return the names of the operator's variables that package managers read."""
    return [
        name
        for name in host.environment
        if name.lower().startswith(_SETTINGS) or name.lower().endswith(_PROXY)
    ]


def _secrets(host: BridgeHost) -> Iterator[str]:
    """Yield the secrets in the settings: tokens and passwords, including secrets in URLs."""
    for name in build_settings(host):
        value = host.environment[name]
        if SECRET_NAME.search(name):
            yield value
        yield from _QUERY.findall(value)
        for encoded_login in _LOGIN.findall(value):
            # In a URL, a user name without a password is treated as a token.
            for login in (encoded_login, unquote(encoded_login)):
                yield login
                yield from login.split(":", 1)[1:]


# The ports of package indexes and of DNS.
_PORTS = (DNS_PORT, 80, 443)


def _confinement(host: BridgeHost, built: BuildResult) -> Confinement:
    """Return the confinement of a build: it may change its folder and download packages."""
    settings = [host.environment[name] for name in build_settings(host)]
    ports = [int(port) for text in settings for port in _PORT.findall(text)]
    confinement = host.confined().reading(*_SETTINGS_FILES).writing(built.folder)
    return confinement.connecting(*_PORTS, *ports)


def _check(finished: ProcessResult) -> None:
    if finished.exit_code != 0:
        raise BuildFailedError(f"the build failed: {finished.reason()}", finished.log())


def _unreadable(error: OSError) -> NexusError:
    return NexusError("build_failed", f"cannot copy the folder: {error.strerror}")


def _cached_build(pointer: Path) -> Path | None:
    try:
        folder = Path(json.loads(pointer.read_bytes())["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return folder if (folder / "tool").is_dir() else None


def _publish(pointer: Path, folder: Path) -> None:
    """Record the permanent location of the build. Virtual environments cannot be moved."""
    new_pointer = folder / "built.json"
    new_pointer.write_text(json.dumps({"folder": str(folder)}))
    new_pointer.replace(pointer)


# --- The schedule of builds


AT_ONCE = 2


class Builder:
    """The builder of all packaged tools of a bridge, which limits concurrent builds."""

    def __init__(self) -> None:
        self._open = 0
        self._places: CapacityLimiter | None = None

    @asynccontextmanager
    async def building(self, builds: Iterable[Build]) -> AsyncIterator[None]:
        """Run the given builds inside this context, and cancel unfinished builds at its end."""
        # A limiter is bound to an event loop, so a new limiter is created if no context is open.
        limiter = self._places if self._open and self._places else CapacityLimiter(AT_ONCE)
        self._places = limiter
        self._open += 1

        async def make(build: Build) -> None:
            async with limiter:
                await build.make()

        try:
            async with BackgroundTasks().running() as background:
                for build in builds:
                    build.announce()
                    background.start(make(build))
                yield
        finally:
            self._open -= 1
