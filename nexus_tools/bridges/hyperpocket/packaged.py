"""A packaged tool: the shell runs its command, with the arguments on standard input."""

import json
import time
from collections.abc import Mapping
from typing import Any

from anyio import move_on_after, to_thread

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.hyperpocket.build import Build, BuildResult, copy_for_call
from nexus_tools.bridges.hyperpocket.credential_resolver import CredentialResolver
from nexus_tools.bridges.hyperpocket.interface import ToolCall
from nexus_tools.bridges.hyperpocket.tool import HyperpocketTool
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import (
    ProcessLimits,
    ProcessResult,
    ScratchDirectory,
    environment_of,
    run,
)
from nexus_tools.bridges.schemas.variants import error
from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn, parse_json
from nexus_tools.tool_server import NotReadyError


class PackagedTool(HyperpocketTool):
    """A tool whose `command` runs in a copy of its folder, which is built before the first call."""

    def __init__(
        self,
        fqn: ToolFqn,
        declaration: Declaration,
        authorisation: CredentialResolver,
        host: BridgeHost,
        *,
        command: str,
        build: Build,
        profile: bool,
    ) -> None:
        self.build = build
        self._command = command
        super().__init__(
            fqn,
            declaration,
            authorisation,
            host,
            source=str(build.source),
            profile=profile,
            health=lambda: {"built": build.built is not None},
            confinement=host.confined(build.source),
        )

    async def run_with(
        self,
        call: ToolCall,
        credentials: Mapping[str, str],
        redaction: Redaction,
        limits: ProcessLimits,
    ) -> Mapping[str, Any]:
        """Run the command and return its output as the result if the exit code is 0.

        Raises:
            NotReadyError: if the tool is not built yet, or its build failed.
        """
        started = time.monotonic()
        with move_on_after(limits.time_ms / 1_000):
            await self.build.ended()
        built = self.build.built
        if built is None:
            raise self._not_built()
        limits = limits.remaining_after(started)
        finished = redaction.finished(await self._run(built, call, credentials, limits))
        if finished.exit_code != 0:
            return error(finished.reason(), finished=finished)
        return {"ok": {"result": _result(finished)}}

    async def _run(
        self,
        built: BuildResult,
        call: ToolCall,
        credentials: Mapping[str, str],
        limits: ProcessLimits,
    ) -> ProcessResult:
        async with ScratchDirectory(self.host.scratch) as scratch:
            await to_thread.run_sync(copy_for_call, built.tool, built.sources, scratch.work)
            variables = {
                **self.declaration.variables,
                **credentials,
                **built.environment(self.host),
            }
            return await run(
                ["/bin/sh", "-c", self._command],
                scratch=scratch,
                environment=environment_of(self.host, scratch=scratch, extra=variables),
                limits=limits,
                confinement=self.host.confined(built.folder),
                input=json.dumps(call.body, ensure_ascii=False).encode("utf-8", "replace"),
            )

    def _not_built(self) -> NotReadyError:
        failure = self.build.failure
        if failure is None:
            return NotReadyError("the tool is not built yet", code="not_built")
        return NotReadyError(failure.message, code=failure.code, hint=_SEE_LOG)


_SEE_LOG = "The server's log contains the end of the build's output."


def _result(finished: ProcessResult) -> Any:
    """Return the parsed output if the output is one JSON text, else the output as a string."""
    try:
        return parse_json(finished.stdout)
    except ValidationError:
        return finished.stdout.decode("utf-8", "replace")
