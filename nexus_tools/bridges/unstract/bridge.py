"""The discovery of Unstract tools: folders with a `config`, and container images."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nexus_tools.bridges.base import BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sandbox import ScratchDirectory
from nexus_tools.bridges.schemas.variants import process_limits
from nexus_tools.bridges.unstract.declarations import Declarations
from nexus_tools.bridges.unstract.message import LogLevel, MessageType
from nexus_tools.bridges.unstract.program import check_size, find_program, program_folder
from nexus_tools.bridges.unstract.runner import Command, DockerRunner, LocalRunner, Runner
from nexus_tools.bridges.unstract.storage import STORAGE_MODES, StorageMode
from nexus_tools.bridges.unstract.tool import RUN_BY_TOOL_VARIABLES, RunOptions, UnstractTool
from nexus_tools.bridges.unstract.transcript import Transcript
from nexus_tools.errors import NexusError, UsageError

_DECLARATION_FILES = ("properties.json", "spec.json")


class UnstractBridge:
    """The bridge to tools that implement the protocol of Unstract, as programs or images.

    With `image`, the tool runs as a container. Without `image`, the tool runs as a process on this
    machine: `entrypoint` if set, or the program found in the folder. `storage` is `local`, `s3`, or
    `auto`, which provides both. `RunOptions` describes the other options.
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
        """Create the bridge.

        Raises:
            UsageError: with code `option_invalid` if an option has an unknown value.
        """
        if log_level is not None and log_level not in LogLevel.__members__:
            raise UsageError(
                "option_invalid", f"the log level must be one of {', '.join(LogLevel)}"
            )
        if image is not None and (image.startswith("-") or not image.strip()):
            raise UsageError("option_invalid", f"{image!r} is not a valid image name")
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
        """Return whether the folder, or its `src`, has a `config` that declares a tool.

        The `config` must contain `properties.json` or `spec.json`. If an image or an entrypoint is
        given, a folder with any `config` or a Dockerfile is recognised as well, and so is an empty
        folder.
        """
        try:
            config = program_folder(place) / "config"
            if any((config / name).is_file() for name in _DECLARATION_FILES):
                return True
            is_configured = self._image is not None or bool(self._entrypoint)
            return is_configured and place.is_dir() and _may_be_tool(place, config)
        except OSError:
            return False

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Return the tool of the folder, or the reason why the tool is refused."""
        try:
            tool = await self._tool(place, host, naming)
        except NexusError as error:
            return Discovery(rejected=(RejectedTool.of(self.system, place, error),))
        except OSError as error:
            reason = f"cannot read the tool's folder: {error.strerror}"
            return Discovery(rejected=(RejectedTool(self.system, str(place), reason),))
        return Discovery(tools=(tool,))

    async def _tool(self, place: Path, host: BridgeHost, naming: Naming) -> UnstractTool:
        folder = program_folder(place)
        runner = self._runner(place, folder, host)

        async def ask(kind: MessageType) -> Transcript:
            return await _request_declaration(kind, runner, host, self._options.variables)

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

    def _runner(self, place: Path, folder: Path, host: BridgeHost) -> Runner:
        if self._image is not None:
            return DockerRunner(host, self._image)
        check_size(place, host.limits)
        search_path = host.environment.get("PATH")
        program = find_program(folder, place, self._entrypoint, search_path)
        return LocalRunner(host, place, folder.relative_to(place), program)


def _may_be_tool(place: Path, config: Path) -> bool:
    return config.is_dir() or (place / "Dockerfile").is_file() or not any(place.iterdir())


def _storage_mode(storage: str) -> StorageMode:
    for mode in STORAGE_MODES:
        if mode == storage:
            return mode
    raise UsageError("option_invalid", f"storage must be one of {', '.join(STORAGE_MODES)}")


async def _request_declaration(
    kind: MessageType, runner: Runner, host: BridgeHost, variables: Mapping[str, str]
) -> Transcript:
    """Return the program's output for a command that requests a declaration."""
    transcript = Transcript()
    async with ScratchDirectory(host.scratch) as scratch:
        finished = await runner.run(
            Command(
                ["--command", kind.value],
                scratch,
                process_limits(host.limits, host.timeout_ms),
                {**variables, **RUN_BY_TOOL_VARIABLES},
                on_stdout=transcript.feed,
            )
        )
    transcript.close()
    if not transcript.problem:
        transcript.problem = finished.log(500)
    return transcript
