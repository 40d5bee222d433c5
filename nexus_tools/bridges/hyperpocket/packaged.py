"""A packaged tool: its command run by the shell, arguments on standard input."""

import json
import time
from collections.abc import Mapping
from typing import Any

from anyio import move_on_after, to_thread

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.hyperpocket.build import Build, Built, private_copy
from nexus_tools.bridges.hyperpocket.credential_resolver import Authorisation
from nexus_tools.bridges.hyperpocket.interface import ToolCall
from nexus_tools.bridges.hyperpocket.tool import HyperpocketTool
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Finished, ProcessLimits, Scratch, environment_of, run
from nexus_tools.bridges.schemas.variants import error
from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn, parse_json
from nexus_tools.tool_server import NotReadyError


class PackagedTool(HyperpocketTool):
    """A tool whose `command` runs in a copy of its folder, built before it is first called."""

    def __init__(
        self,
        fqn: ToolFqn,
        declaration: Declaration,
        authorisation: Authorisation,
        host: Host,
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
        """Run the command; its output is the result if it ends with exit code 0.

        Raises `NotReadyError` while the tool is not built, or if its build failed.
        """
        began = time.monotonic()
        with move_on_after(limits.time_ms / 1_000):
            await self.build.ended()
        built = self.build.built
        if built is None:
            raise self._not_built()
        limits = limits.left_since(began)
        finished = redaction.finished(await self._run(built, call, credentials, limits))
        if finished.exit_code != 0:
            return error(finished.reason(), finished=finished)
        return {"ok": {"result": _result(finished)}}

    async def _run(
        self, built: Built, call: ToolCall, credentials: Mapping[str, str], limits: ProcessLimits
    ) -> Finished:
        async with Scratch(self.host.scratch) as scratch:
            await to_thread.run_sync(private_copy, built.tool, built.sources, scratch.work)
            given = {**self.declaration.variables, **credentials, **built.environment(self.host)}
            return await run(
                ["/bin/sh", "-c", self._command],
                scratch=scratch,
                environment=environment_of(self.host, scratch=scratch, extra=given),
                limits=limits,
                confinement=self.host.confined(built.folder),
                input=json.dumps(call.body, ensure_ascii=False).encode("utf-8", "replace"),
            )

    def _not_built(self) -> NotReadyError:
        failure = self.build.failure
        if failure is None:
            return NotReadyError("the tool is not built yet", code="not_built")
        return NotReadyError(failure.message, code=failure.code, hint=_SEE_LOG)


_SEE_LOG = "the operator finds the end of the build's output in the log of the server"


def _result(finished: Finished) -> Any:
    """What was printed: its value if it is one JSON text, else the text itself."""
    try:
        return parse_json(finished.stdout)
    except ValidationError:
        return finished.stdout.decode("utf-8", "replace")
