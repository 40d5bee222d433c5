"""The runners of a tool's program, on this machine or in a container."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.sandbox import (
    UNCONFINED,
    Confinement,
    ProcessLimits,
    ProcessResult,
    ScratchDirectory,
    environment_of,
    run,
)
from nexus_tools.bridges.sandbox.scratch import finish_before_cancelling
from nexus_tools.bridges.unstract.program import Program, copy_tool
from nexus_tools.bridges.unstract.storage import BUCKET, Storage
from nexus_tools.errors import UnreachableError


@dataclass(frozen=True, slots=True)
class Command:
    """One command for a tool: its arguments, its input, and its environment.

    `variables` are environment variables in addition to the variables of every tool. `storage` is
    None for commands that only request a declaration.
    """

    arguments: Sequence[str]
    scratch: ScratchDirectory
    limits: ProcessLimits
    variables: Mapping[str, str] = field(repr=False)
    storage: Storage | None = None
    input: bytes = b""
    on_stdout: Callable[[bytes], None] | None = None


class Runner(Protocol):
    """A runner for the commands of one tool."""

    async def run(self, command: Command) -> ProcessResult:
        """Run a command to its end. Cancellation ends all its processes."""
        ...

    def confinement(self) -> Confinement | None:
        """Return the confinement of the processes, or None if the sandbox does not confine them."""
        ...

    def data_path(self, storage: Storage) -> str:
        """Return the path of a run's data directory from the tool's point of view."""
        ...

    def requirements(self) -> dict[str, bool]:
        """Return a mapping from the name of each requirement of a run to whether it is met."""
        ...

    async def checks(self) -> dict[str, bool]:
        """Return the results of the slow checks by name.

        Only health requests wait for slow checks.
        """
        ...


# --- On this machine


_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """The runner of the tool in `place`.

    The program runs in `subfolder`, which contains `config`.
    """

    host: BridgeHost
    place: Path
    subfolder: Path
    program: Program

    async def run(self, command: Command) -> ProcessResult:
        """Run the program in a new copy of the tool.

        Raises:
            NotFoundError: with code `program_not_found` if the program cannot be started.
        """
        started = time.monotonic()
        copying = asyncio.ensure_future(asyncio.to_thread(self._copy, command))
        # The thread continues when the run is cancelled. The scratch directory must exist until it
        # ends.
        await finish_before_cancelling(copying)
        folder = copying.result()
        return await run(
            [*self.program.command(folder, self.host.python), *command.arguments],
            scratch=command.scratch,
            environment=self._environment(command),
            # The copy of a large tool counts towards its time limit.
            limits=command.limits.remaining_after(started),
            confinement=self._confinement(command.storage),
            directory=folder,
            input=command.input,
            on_stdout=command.on_stdout,
        )

    def confinement(self) -> Confinement:
        """Return the confinement to the tool's folder, including the parts that copies omit."""
        return self.host.confined(self.place)

    def data_path(self, storage: Storage) -> str:
        """Return the path of the folder itself."""
        return str(storage.data)

    def requirements(self) -> dict[str, bool]:
        """Return whether the folder still exists."""
        return {"program": (self.place / self.subfolder).is_dir()}

    async def checks(self) -> dict[str, bool]:
        """Return no checks, because this runner has no slow checks."""
        return {}

    def _confinement(self, storage: Storage | None) -> Confinement:
        """Return the confinement of a run, which includes the port of its object store."""
        ports = [] if storage is None or storage.port is None else [storage.port]
        return self.confinement().connecting(*ports)

    def _copy(self, command: Command) -> Path:
        copy = command.scratch.work / "tool"
        copy_tool(self.place, copy, self.host.limits)
        folder = copy / self.subfolder
        # The SDK searches this folder and its parents for a .env, and uses the first file.
        (folder / ".env").touch()
        link = folder / BUCKET
        if command.storage is not None and not link.exists():
            # Programs without S3 support can then use a path in the bucket as a file path.
            link.symlink_to(command.storage.bucket)
        return folder

    def _environment(self, command: Command) -> dict[str, str]:
        environment = environment_of(
            self.host, scratch=command.scratch, extra={**_PYTHON, **command.variables}
        )
        if command.storage is not None and command.storage.has_bucket:
            # The operator's proxy cannot reach a port of this machine.
            for name in ("NO_PROXY", "no_proxy"):
                hosts = environment.get(name)
                environment[name] = f"{hosts},{_LOOPBACK}" if hosts else _LOOPBACK
        return environment


# Without buffering, messages arrive as they are written.
_PYTHON = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}


# --- In a container


DATA_PATH = "/data"

# The exit code of `docker run` if the daemon failed, and not the program in the container.
_DAEMON_FAILED = 125
# The variables with the location of the operator's Docker daemon.
_DOCKER = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH")
_DOCKER_TLS = ("DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION")
_CHECK_LIMITS = ProcessLimits(time_ms=4_000)
_REMOVE_LIMITS = ProcessLimits(time_ms=20_000)


@dataclass(frozen=True, slots=True)
class DockerRunner:
    """The runner of a tool's image, whose entrypoint accepts the protocol's commands."""

    host: BridgeHost
    image: str

    async def run(self, command: Command) -> ProcessResult:
        """Run a container.

        Raises:
            UnreachableError: with code `docker_unreachable`.
        """
        name = f"nexus-tools-{uuid4().hex}"
        variables = {**self.host.shared_environment, **command.variables}
        line = docker_command(
            self.image,
            name,
            command,
            tuple(variables),
            _user(),
            has_network=bool(self.host.confinement.ports) or not self.host.confinement.is_on,
        )
        has_exited = False
        try:
            finished = await run(
                line,
                scratch=command.scratch,
                environment=self._environment(command.scratch) | variables,
                limits=replace(command.limits, memory_bytes=_CHECK_LIMITS.memory_bytes),
                confinement=UNCONFINED,
                input=command.input,
                on_stdout=command.on_stdout,
            )
            has_exited = finished.exit_code is not None and finished.exit_code >= 0
        finally:
            if not has_exited:
                # The daemon does not stop the container when its client is killed.
                await finish_before_cancelling(
                    asyncio.ensure_future(self._remove(name, command.scratch))
                )
        if finished.exit_code == _DAEMON_FAILED:
            raise _unreachable(self.image, finished)
        return finished

    def confinement(self) -> None:
        """Return None, because the container confines the tool. The process is a Docker client."""

    def data_path(self, storage: Storage) -> str:  # noqa: ARG002 - the same for every run
        """Return the path at which the data directory is mounted."""
        return DATA_PATH

    def requirements(self) -> dict[str, bool]:
        """Return no requirements, because the daemon may run on another machine."""
        return {}

    async def checks(self) -> dict[str, bool]:
        """Return whether the daemon responds."""
        async with ScratchDirectory(self.host.scratch) as scratch:
            finished = await run(
                ["docker", "version", "--format", "{{.Server.Version}}"],
                scratch=scratch,
                environment=self._environment(scratch),
                limits=_CHECK_LIMITS,
                confinement=UNCONFINED,
            )
        return {"docker": finished.exit_code == 0}

    async def _remove(self, name: str, scratch: ScratchDirectory) -> None:
        await run(
            ["docker", "rm", "--force", name],
            scratch=scratch,
            environment=self._environment(scratch),
            limits=_REMOVE_LIMITS,
            confinement=UNCONFINED,
        )

    def _environment(self, scratch: ScratchDirectory) -> dict[str, str]:
        return environment_of(self.host, scratch=scratch, declared=(*_DOCKER, *_DOCKER_TLS))


def docker_command(
    image: str,
    name: str,
    command: Command,
    variables: Sequence[str],
    user: str,
    *,
    has_network: bool = False,
) -> list[str]:
    """Return the command line, which reads the values of `variables` from its environment.

    `user` is `uid:gid`, so that the server can read and remove the tool's files. If the storage has
    a bucket, the container uses this machine's network. If the storage has no bucket, the container
    uses a separate network with `has_network`, or no network.
    """
    storage = command.storage
    isolated_network = "bridge" if has_network else "none"
    network = "host" if storage is not None and storage.has_bucket else isolated_network
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
    """Return the value of `--mount`, which is a line of CSV."""
    source = f"source={data}".replace('"', '""')
    return f'type=bind,"{source}",target={DATA_PATH}'


def _user() -> str:
    return f"{os.getuid()}:{os.getgid()}"


def _unreachable(image: str, finished: ProcessResult) -> UnreachableError:
    lines = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return UnreachableError(
        "docker_unreachable",
        f"docker could not run {image}: {lines[0][:300] if lines else 'no error message'}",
        hint="Run `docker version` to check that the daemon runs and that this user may access it.",
    )
