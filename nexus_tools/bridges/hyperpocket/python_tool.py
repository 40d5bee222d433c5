"""A tool in Python: a function or `Tool` object of a module, called in a separate process."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.hyperpocket.credential_resolver import CredentialResolver
from nexus_tools.bridges.hyperpocket.description import ask_child, confined_to
from nexus_tools.bridges.hyperpocket.interface import ToolCall
from nexus_tools.bridges.hyperpocket.tool import HyperpocketTool
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.worker import failure
from nexus_tools.tool import ToolFqn


class PythonTool(HyperpocketTool):
    """A tool of the module or package at `place`."""

    def __init__(
        self,
        fqn: ToolFqn,
        declaration: Declaration,
        authorisation: CredentialResolver,
        host: BridgeHost,
        *,
        place: Path,
        profile: bool,
    ) -> None:
        self._place = place
        self._confined = confined_to(host, place)
        super().__init__(
            fqn,
            declaration,
            authorisation,
            host,
            source=f"{place}#{declaration.name}",
            profile=profile,
            confinement=self._confined,
        )

    def requirements(self) -> dict[str, bool]:
        """Return whether the module exists."""
        return {"present": self._place.exists()}

    async def run_with(
        self,
        call: ToolCall,
        credentials: Mapping[str, str],
        redaction: Redaction,
        limits: ProcessLimits,
    ) -> Mapping[str, Any]:
        """Call the tool, and return its value as the result, or its exception as an `err`."""
        request = {
            "do": "call",
            "path": str(self._place),
            "name": self.declaration.name,
            "variables": dict(self.declaration.variables),
            "body": call.body,
            "envs": dict(credentials),
            "thread_id": call.thread_id,
            "profile": call.profile,
        }
        reply = await ask_child(self.host, request, limits, self._confined)
        if reply.error is None:
            return {"ok": {"result": reply.value}}
        return failure(redaction.reply(reply), self.fqn)
