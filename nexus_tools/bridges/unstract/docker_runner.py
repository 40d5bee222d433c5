"""Runs a tool as a container of its image, by the command line of Docker.

The container has the data directory as its only volume and is removed at the end, whatever ends it.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import (
    Finished,
    ProcessLimits,
    Scratch,
    environment_of,
    run,
)
from nexus_tools.bridges.sandbox.outlasting import outlast
from nexus_tools.bridges.unstract.runner import Command
from nexus_tools.bridges.unstract.storage import Storage
from nexus_tools.errors import UnreachableError

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
        variables = {**self._shared(), **command.variables}
        line = docker_run(self.image, name, command, tuple(variables), _user())
        ended = False
        try:
            finished = await run(
                line,
                scratch=command.scratch,
                environment=self._environment(command.scratch) | variables,
                limits=replace(command.limits, memory_bytes=_ASKING.memory_bytes),
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

    def data_path(self, storage: Storage) -> str:  # noqa: ARG002 - the same for every run
        """Where the data directory is mounted."""
        return DATA_PATH

    async def checks(self) -> dict[str, bool]:
        """Whether the daemon answers."""
        async with Scratch(self.host.scratch) as scratch:
            finished = await run(
                ["docker", "version", "--format", "{{.Server.Version}}"],
                scratch=scratch,
                environment=self._environment(scratch),
                limits=_ASKING,
            )
        return {"docker": finished.exit_code == 0}

    async def _remove(self, name: str, scratch: Scratch) -> None:
        await run(
            ["docker", "rm", "--force", name],
            scratch=scratch,
            environment=self._environment(scratch),
            limits=_REMOVING,
        )

    def _environment(self, scratch: Scratch) -> dict[str, str]:
        return environment_of(self.host, scratch=scratch, declared=(*_DOCKER, *_DOCKER_TLS))

    def _shared(self) -> dict[str, str]:
        environment = self.host.environment
        return {name: environment[name] for name in self.host.shared if name in environment}


def docker_run(
    image: str, name: str, command: Command, variables: Sequence[str], user: str
) -> list[str]:
    """The command line; the values of `variables` are taken from the environment it runs in.

    `user` is `uid:gid`, so that what the tool writes can be read and removed.
    """
    storage = command.storage
    network = "host" if storage is not None and storage.has_bucket else "bridge"
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
