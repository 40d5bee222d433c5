"""An Unstract tool as a Nexus tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.base import BridgedTool, BridgeHost
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import ScratchDirectory
from nexus_tools.bridges.schemas.variants import process_limits, with_description
from nexus_tools.bridges.unstract.declarations import Declarations
from nexus_tools.bridges.unstract.input import INPUT_FILE_PARAMETER, RunInput, ToolInput
from nexus_tools.bridges.unstract.message import LogLevel
from nexus_tools.bridges.unstract.output import Ending, tool_output_schema
from nexus_tools.bridges.unstract.properties import ToolProperties
from nexus_tools.bridges.unstract.runner import Command, Runner
from nexus_tools.bridges.unstract.storage import DataDirectory, Storage, StorageMode, open_storage
from nexus_tools.bridges.unstract.transcript import RunLogger, Transcript
from nexus_tools.bridges.unstract.variables import SECRET_VARIABLES, platform_variables
from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Call


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options for the runs of a tool.

    `strict_error_logs` fails a run that logs an ERROR or FATAL, as the platform does. `log_level`
    is the lowest level that the tool should log. If `log_level` is None, outcomes do not include
    logs, because outcomes are public and paid by the byte. `params_argument` also passes
    `parameters` as the arguments `--params` and `--workflow-id`, which old Unstract tools read.
    `variables` are environment variables that the operator sets.
    """

    storage: StorageMode = "auto"
    strict_error_logs: bool = False
    log_level: LogLevel | None = None
    params_argument: bool = False
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)


class UnstractTool(BridgedTool):
    """A program that implements the protocol.

    Each invocation is one RUN. `icon` is an SVG or empty.
    """

    def __init__(
        self,
        fqn: ToolFqn,
        *,
        source: str,
        declarations: Declarations,
        runner: Runner,
        host: BridgeHost,
        options: RunOptions,
    ) -> None:
        self.icon = declarations.icon
        self._declarations = declarations
        self._runner = runner
        self._host = host
        self._options = options
        self._input = ToolInput.of(declarations.properties, declarations.settings)
        super().__init__(
            fqn,
            system="unstract",
            source=source,
            description=_description(declarations.properties),
            input_schema=self._input.schema,
            output_schema=tool_output_schema(declarations.properties),
            timeout_ms=host.timeout_ms,
            health=runner.checks,
            confinement=runner.confinement(),
        )
        self.variables = declarations.variables.names

    def arguments(self, ports: Any, call: Call, json_bytes: int | None = None) -> dict[str, Any]:
        """Return the input of a run, with decoded and checked files and with default settings."""
        return {"run": self._input.read(super().arguments(ports, call, json_bytes))}

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the program once in new temporary directories."""
        async with ScratchDirectory(self._host.scratch) as scratch:
            return await self._run(scratch, arguments["run"])

    async def _run(self, scratch: ScratchDirectory, run: RunInput) -> dict[str, Any]:
        redaction = self._redaction(run)
        transcript = Transcript(RunLogger(str(self.fqn), redaction).write)
        root = scratch.work / "storage"
        async with open_storage(root, self._options.storage, self._host.limits) as storage:
            data = DataDirectory.create(storage.data, run.file, run.metadata)
            finished = await self._runner.run(
                self._command(scratch, storage, run, data, transcript)
            )
        transcript.close()
        with_logs = self._options.log_level is not None
        return self._outcome(Ending(finished, transcript, redaction, with_logs), data)

    def _command(
        self,
        scratch: ScratchDirectory,
        storage: Storage,
        run: RunInput,
        data: DataDirectory,
        transcript: Transcript,
    ) -> Command:
        data_path = self._runner.data_path(storage)
        parameters = run.parameters
        if self._input.takes_path and run.file is not None:
            parameters = {INPUT_FILE_PARAMETER: f"{data_path}/INFILE", **parameters}
        arguments = ["--command", "RUN", "--settings", run.settings_argument]
        arguments += ["--log-level", (self._options.log_level or LogLevel.ERROR).value]
        text = json.dumps(parameters)
        if self._options.params_argument:
            arguments += ["--params", text, "--workflow-id", data.metadata["workflow_id"]]
        return Command(
            arguments,
            scratch,
            process_limits(self._host.limits, self.timeout_ms),
            run_variables(self._declarations, self._environment(), self._options)
            | storage.variables(data_path),
            storage,
            input=text.encode() if parameters else b"",
            on_stdout=transcript.feed,
        )

    def _outcome(self, ending: Ending, data: DataDirectory) -> dict[str, Any]:
        problem = ending.problem(strict_error_logs=self._options.strict_error_logs)
        if problem:
            return ending.error(problem)
        try:
            document = ending.ok(data.output_files(), self._declarations.properties)
            self._validator.check_output(document)
        except ValidationError as error:
            return ending.error(f"the output of the tool is not valid: {error.message}")
        return document

    def _redaction(self, run: RunInput) -> Redaction:
        """Return the redaction of the secrets that the operator or caller passes to the tool."""
        declared_names = self._declarations.variables.names
        environment = self._environment()
        names = (*SECRET_VARIABLES, *declared_names, *self._host.shared, *self._options.variables)
        values = (environment.get(name, "") for name in names)
        return Redaction.of([*values, *self._declarations.settings.secrets(run.settings)])

    def _environment(self) -> Mapping[str, str]:
        return {
            **platform_variables(self._host.environment),
            **self._host.shared_environment,
            **self._options.variables,
        }

    def requirements(self) -> dict[str, bool]:
        """Return whether each runtime variable is valid, and whether the program exists."""
        variables = self._declarations.variables.checks(self._environment())
        return {**variables, **self._runner.requirements()}


def run_variables(
    declarations: Declarations, environment: Mapping[str, str], options: RunOptions
) -> dict[str, str]:
    """Return the environment variables of a run, except the variables of its storage."""
    declared_values = declarations.variables.values(environment)
    return {
        **platform_variables(environment),
        **declared_values,
        **options.variables,
        **RUN_BY_TOOL_VARIABLES,
    }


def _description(properties: ToolProperties) -> str:
    """Return the tool's description, including the tool's own version."""
    name = properties.display_name or properties.function_name
    version = f" {properties.version}" if properties.version else ""
    target = _WRITES.get(properties.output_type, "")
    parts = [
        properties.description,
        f"Unstract tool: {name}{version}.",
        f"The tool writes to its own {target}." if target else "",
        "The results may be cached." if properties.is_cacheable else "",
    ]
    return with_description(" ".join(part for part in parts if part))


_WRITES = {"db": "database", "index": "index"}

# The variable tells the SDK that a program runs the tool. The SDK then logs an error and exits with
# 1.
RUN_BY_TOOL_VARIABLES = {"EXECUTION_BY_TOOL": "True"}
