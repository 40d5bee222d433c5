"""Finds the tools of Unstract: folders with a `config`, and images."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nexus_tools.bridges.base import Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sandbox import Scratch
from nexus_tools.bridges.schemas.variants import process_limits
from nexus_tools.bridges.unstract.declarations import Declarations
from nexus_tools.bridges.unstract.message import LogLevel, MessageType
from nexus_tools.bridges.unstract.program import check_size, find_program, program_folder
from nexus_tools.bridges.unstract.runner import Command, DockerRunner, LocalRunner, Runner
from nexus_tools.bridges.unstract.storage import STORAGE_MODES, StorageMode
from nexus_tools.bridges.unstract.tool import BY_TOOL, RunOptions, UnstractTool
from nexus_tools.bridges.unstract.transcript import Transcript
from nexus_tools.errors import NexusError, UsageError

_DECLARING = ("properties.json", "spec.json")


class UnstractBridge:
    """Serves tools that speak the protocol of Unstract, by their program or by an image.

    `image` runs the tool as a container of it, else its program is a process of this machine:
    `entrypoint` if it is given, or what the folder has. `storage` is `local`, `s3` or `auto`, which
    is both. The rest is explained at `RunOptions`.
    """

    system = "unstract"

    def __init__(
        self,
        *,
        image: str | None = None,
        entrypoint: Sequence[str] = (),
        storage: str = "auto",
        strict_error_logs: bool = False,
        log_level: str | None = None,
        params_argument: bool = False,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Raises `UsageError` with code `option_invalid` for an option that there is not."""
        if log_level is not None and log_level not in LogLevel.__members__:
            raise UsageError("option_invalid", f"log level is none of {', '.join(LogLevel)}")
        if image is not None and (image.startswith("-") or not image.strip()):
            raise UsageError("option_invalid", f"{image!r} is no name of an image")
        self._image = image
        self._entrypoint = tuple(entrypoint)
        self._options = RunOptions(
            _storage_mode(storage),
            strict_error_logs,
            None if log_level is None else LogLevel(log_level),
            params_argument,
            dict(variables or {}),
        )

    def recognises(self, place: Path) -> bool:
        """Whether it is a folder with `config/properties.json` or `config/spec.json`, or in `src`.

        Where an image or an entrypoint is given, so is a folder with any `config` or a Dockerfile,
        and one that is empty.
        """
        try:
            config = program_folder(place) / "config"
            if any((config / name).is_file() for name in _DECLARING):
                return True
            is_said = self._image is not None or bool(self._entrypoint)
            return is_said and place.is_dir() and _may_be_one(place, config)
        except OSError:
            return False

    async def discover(self, place: Path, host: Host, naming: Naming) -> Discovery:
        """The one tool of the folder, or why it cannot be one."""
        try:
            tool = await self._tool(place, host, naming)
        except NexusError as error:
            return Discovery(refused=(Refusal.of(self.system, place, error),))
        except OSError as error:
            reason = f"its folder cannot be read: {error.strerror}"
            return Discovery(refused=(Refusal(self.system, str(place), reason),))
        return Discovery(tools=(tool,))

    async def _tool(self, place: Path, host: Host, naming: Naming) -> UnstractTool:
        folder = program_folder(place)
        runner = self._runner(place, folder, host)

        async def ask(kind: MessageType) -> Transcript:
            return await _answer_to(kind, runner, host, self._options.variables)

        declarations = await Declarations.gather(folder / "config", ask)
        name = declarations.properties.function_name
        tool = UnstractTool(
            naming.fqn(self.system, name),
            source=str(place),
            declarations=declarations,
            runner=runner,
            host=host,
            options=self._options,
        )
        return tool.called(name)

    def _runner(self, place: Path, folder: Path, host: Host) -> Runner:
        if self._image is not None:
            return DockerRunner(host, self._image)
        check_size(place, host.limits)
        search_path = host.environment.get("PATH")
        program = find_program(folder, place, self._entrypoint, search_path)
        return LocalRunner(host, place, folder.relative_to(place), program)


def _may_be_one(place: Path, config: Path) -> bool:
    return config.is_dir() or (place / "Dockerfile").is_file() or not any(place.iterdir())


def _storage_mode(storage: str) -> StorageMode:
    for mode in STORAGE_MODES:
        if mode == storage:
            return mode
    raise UsageError("option_invalid", f"storage is none of {', '.join(STORAGE_MODES)}")


async def _answer_to(
    kind: MessageType, runner: Runner, host: Host, variables: Mapping[str, str]
) -> Transcript:
    """What the program says to a command that asks what the tool is."""
    transcript = Transcript()
    async with Scratch(host.scratch) as scratch:
        finished = await runner.run(
            Command(
                ["--command", kind.value],
                scratch,
                process_limits(host.limits, host.timeout_ms),
                {**variables, **BY_TOOL},
                on_stdout=transcript.feed,
            )
        )
    transcript.close()
    if not transcript.problem:
        transcript.problem = finished.log(500)
    return transcript
