"""Runs a tool as a process of this machine, in a private copy of its folder."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import Finished, environment_of, run
from nexus_tools.bridges.sandbox.outlasting import outlast
from nexus_tools.bridges.unstract.program import Program
from nexus_tools.bridges.unstract.runner import Command
from nexus_tools.bridges.unstract.storage import BUCKET, Storage
from nexus_tools.bridges.unstract.tool_folder import copy_tool

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
        copying = asyncio.ensure_future(asyncio.to_thread(self._copy, command))
        # A thread goes on when the run is cancelled, and the scratch directory must not then.
        await outlast(copying)
        folder = copying.result()
        return await run(
            [*self.program.command(folder, self.host.python), *command.arguments],
            scratch=command.scratch,
            environment=self._environment(command),
            limits=command.limits,
            directory=folder,
            input=command.input,
            on_stdout=command.on_stdout,
        )

    def data_path(self, storage: Storage) -> str:
        """The folder itself."""
        return str(storage.data)

    async def checks(self) -> dict[str, bool]:
        """The folder may be gone since the tool was found."""
        return {"program": (self.place / self.subfolder).is_dir()}

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
