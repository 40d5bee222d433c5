"""How a tool's program is run: what every runner is given, on this machine, or in a container."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import (
    UNCONFINED,
    Confinement,
    Finished,
    ProcessLimits,
    Scratch,
    environment_of,
    run,
)
from nexus_tools.bridges.sandbox.scratch import outlast
from nexus_tools.bridges.unstract.program import Program, copy_tool
from nexus_tools.bridges.unstract.storage import BUCKET, Storage
from nexus_tools.errors import UnreachableError


@dataclass(frozen=True, slots=True)
class Command:
    """One command for a tool: its arguments, its input, and what it has around it.

    `variables` are environment variables beyond what every tool gets. `storage` is None for the
    commands that only ask what the tool is.
    """

    arguments: Sequence[str]
    scratch: Scratch
    limits: ProcessLimits
    variables: Mapping[str, str] = field(repr=False)
    storage: Storage | None = None
    input: bytes = b""
    on_stdout: Callable[[bytes], None] | None = None


class Runner(Protocol):
    """Runs the commands of one tool."""

    async def run(self, command: Command) -> Finished:
        """Run it to its end; cancelling ends everything that was started."""
        ...

    def confinement(self) -> Confinement | None:
        """What its processes may touch of this machine; None if they are not confined by us."""
        ...

    def data_path(self, storage: Storage) -> str:
        """The data directory of a run as the tool sees it."""
        ...

    def needs(self) -> dict[str, bool]:
        """Return what a run needs on this machine, by name, and whether it is there."""
        ...

    async def checks(self) -> dict[str, bool]:
        """Return the checks that take time, by name; only requests of health wait for them."""
        ...


# --- On this machine


_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """The program of the tool in `place`, which runs where its `config` is: in `subfolder`."""

    host: Host
    place: Path
    subfolder: Path
    program: Program

    async def run(self, command: Command) -> Finished:
        """Run the program in a fresh copy; raises `program_missing` if it cannot be started."""
        began = time.monotonic()
        copying = asyncio.ensure_future(asyncio.to_thread(self._copy, command))
        # A thread goes on when the run is cancelled, and the scratch directory must not then.
        await outlast(copying)
        folder = copying.result()
        return await run(
            [*self.program.command(folder, self.host.python), *command.arguments],
            scratch=command.scratch,
            environment=self._environment(command),
            # To copy a large tool takes of its time.
            limits=command.limits.left_since(began),
            confinement=self._confinement(command.storage),
            directory=folder,
            input=command.input,
            on_stdout=command.on_stdout,
        )

    def confinement(self) -> Confinement:
        """Its own folder, with all that its copy leaves out."""
        return self.host.confined(self.place)

    def data_path(self, storage: Storage) -> str:
        """The folder itself."""
        return str(storage.data)

    def needs(self) -> dict[str, bool]:
        """Return whether the folder is still there: it may be gone since the tool was found."""
        return {"program": (self.place / self.subfolder).is_dir()}

    async def checks(self) -> dict[str, bool]:
        """Return no checks: all of them are cheap."""
        return {}

    def _confinement(self, storage: Storage | None) -> Confinement:
        """With its S3, if it has one, which is a port of this machine."""
        ports = [] if storage is None or storage.port is None else [storage.port]
        return self.confinement().connecting(*ports)

    def _copy(self, command: Command) -> Path:
        copy = command.scratch.work / "tool"
        copy_tool(self.place, copy, self.host.limits)
        folder = copy / self.subfolder
        # The SDK looks for a .env from here upwards, and takes the first that it finds.
        (folder / ".env").touch()
        link = folder / BUCKET
        if command.storage is not None and not link.exists():
            # A path in the bucket is then a path for programs that know no S3.
            link.symlink_to(command.storage.bucket)
        return folder

    def _environment(self, command: Command) -> dict[str, str]:
        environment = environment_of(
            self.host, scratch=command.scratch, extra={**_PYTHON, **command.variables}
        )
        if command.storage is not None and command.storage.has_bucket:
            # A proxy of the operator's does not lead to a port of this machine.
            for name in ("NO_PROXY", "no_proxy"):
                given = environment.get(name)
                environment[name] = f"{given},{_LOOPBACK}" if given else _LOOPBACK
        return environment


# Messages are to come as they are written.
_PYTHON = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}


# --- In a container


DATA_PATH = "/data"

# `docker run` ends with this one if the daemon failed, not the program in the container.
_DAEMON_FAILED = 125
# Where the operator's Docker is, and how it is reached.
_DOCKER = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH")
_DOCKER_TLS = ("DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION")
_ASKING = ProcessLimits(time_ms=4_000)
_REMOVING = ProcessLimits(time_ms=20_000)


@dataclass(frozen=True, slots=True)
class DockerRunner:
    """The image of a tool, whose entrypoint takes the protocol's commands."""

    host: Host
    image: str

    async def run(self, command: Command) -> Finished:
        """Run a container; raises `UnreachableError` with code `docker_unreachable`."""
        name = f"nexus-tools-{uuid4().hex}"
        variables = {**self.host.shared_environment, **command.variables}
        line = docker_run(
            self.image,
            name,
            command,
            tuple(variables),
            _user(),
            has_network=bool(self.host.confinement.ports) or not self.host.confinement.is_on,
        )
        ended = False
        try:
            finished = await run(
                line,
                scratch=command.scratch,
                environment=self._environment(command.scratch) | variables,
                limits=replace(command.limits, memory_bytes=_ASKING.memory_bytes),
                confinement=UNCONFINED,
                input=command.input,
                on_stdout=command.on_stdout,
            )
            ended = finished.exit_code is not None and finished.exit_code >= 0
        finally:
            if not ended:
                # The daemon does not notice that its client was killed.
                await outlast(asyncio.ensure_future(self._remove(name, command.scratch)))
        if finished.exit_code == _DAEMON_FAILED:
            raise _unreachable(self.image, finished)
        return finished

    def confinement(self) -> None:
        """The container confines; what we run is the client of Docker, the operator's own."""

    def data_path(self, storage: Storage) -> str:  # noqa: ARG002 - the same for every run
        """Where the data directory is mounted."""
        return DATA_PATH

    def needs(self) -> dict[str, bool]:
        """Return no needs: the daemon may run elsewhere, and a run shows whether it responds."""
        return {}

    async def checks(self) -> dict[str, bool]:
        """Return whether the daemon responds."""
        async with Scratch(self.host.scratch) as scratch:
            finished = await run(
                ["docker", "version", "--format", "{{.Server.Version}}"],
                scratch=scratch,
                environment=self._environment(scratch),
                limits=_ASKING,
                confinement=UNCONFINED,
            )
        return {"docker": finished.exit_code == 0}

    async def _remove(self, name: str, scratch: Scratch) -> None:
        await run(
            ["docker", "rm", "--force", name],
            scratch=scratch,
            environment=self._environment(scratch),
            limits=_REMOVING,
            confinement=UNCONFINED,
        )

    def _environment(self, scratch: Scratch) -> dict[str, str]:
        return environment_of(self.host, scratch=scratch, declared=(*_DOCKER, *_DOCKER_TLS))


def docker_run(
    image: str,
    name: str,
    command: Command,
    variables: Sequence[str],
    user: str,
    *,
    has_network: bool = False,
) -> list[str]:
    """The command line; the values of `variables` are taken from the environment it runs in.

    `user` is `uid:gid`, so that what the tool writes can be read and removed. Its network is this
    machine's where its S3 is, one of its own with `has_network`, and else none.
    """
    storage = command.storage
    own = "bridge" if has_network else "none"
    network = "host" if storage is not None and storage.has_bucket else own
    options = [
        *("--name", name),
        *("--network", network),
        *("--memory", f"{command.limits.memory_bytes}b"),
        *("--pids-limit", str(command.limits.processes)),
        *("--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges"),
        *("--log-driver", "none"),
        *("--user", user),
        *("--env", "HOME=/tmp"),
        *(word for variable in variables for word in ("--env", variable)),
    ]
    if storage is not None:
        options += ["--mount", _mount(storage.data)]
    if command.input:
        options.append("--interactive")
    return ["docker", "run", "--rm", "--init", *options, image, *command.arguments]


def _mount(data: Path) -> str:
    """The value of `--mount`, which is a line of CSV."""
    source = f"source={data}".replace('"', '""')
    return f'type=bind,"{source}",target={DATA_PATH}'


def _user() -> str:
    return f"{os.getuid()}:{os.getgid()}"


def _unreachable(image: str, finished: Finished) -> UnreachableError:
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return UnreachableError(
        "docker_unreachable",
        f"docker could not run {image}: {said[0][:300] if said else 'it does not say why'}",
        hint="is the daemon running, and may this user reach it? try: docker version",
    )
