"""The flow of a call for every kind of tool: authenticate, then run with the credentials."""

import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from anyio import move_on_after

from nexus_tools.bridges.base import BridgedTool, BridgeHost
from nexus_tools.bridges.hyperpocket.auth import AuthRequired
from nexus_tools.bridges.hyperpocket.credential_resolver import (
    CredentialResolver,
    auth_required_output,
)
from nexus_tools.bridges.hyperpocket.interface import Interface, ToolCall, output_of
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits
from nexus_tools.bridges.schemas.variants import process_limits, with_description
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Health

SYSTEM = "hyperpocket"


class HyperpocketTool(BridgedTool):
    """A tool that authenticates before each call. Subclasses run the tool with the credentials."""

    def __init__(
        self,
        fqn: ToolFqn,
        declaration: Declaration,
        authorisation: CredentialResolver,
        host: BridgeHost,
        *,
        source: str,
        profile: bool,
        health: Health | None = None,
        confinement: Confinement,
    ) -> None:
        self.declaration = declaration
        self.host = host
        self._authorisation = authorisation
        self._interface = Interface.of(declaration.schema, profile=profile)
        super().__init__(
            fqn,
            system=SYSTEM,
            source=source,
            description=with_description(declaration.description),
            input_schema=self._interface.schema,
            output_schema=output_of(needs_auth=declaration.auth is not None),
            timeout_ms=host.timeout_ms,
            health=health,
            confinement=confinement,
        )

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Authenticate, run the tool, and redact the credentials in its output."""
        started = time.monotonic()
        call = self._interface.call(arguments)
        credentials = await self._authenticate(call)
        auth = self.declaration.auth
        if isinstance(credentials, AuthRequired):
            assert auth is not None
            names = self._authorisation.names(self.declaration.name, auth)
            return auth_required_output(auth, names, credentials)
        redaction = Redaction.of(credentials.values())
        limits = process_limits(self.host.limits, self.timeout_ms).remaining_after(started)
        output = await self.run_with(call, credentials, redaction, limits)
        return {variant: redaction.value(ports) for variant, ports in output.items()}

    @abstractmethod
    async def run_with(
        self,
        call: ToolCall,
        credentials: Mapping[str, str],
        redaction: Redaction,
        limits: ProcessLimits,
    ) -> Mapping[str, Any]:
        """Run the tool within `limits`, and return an output of `ok` or `err`."""

    async def _authenticate(self, call: ToolCall) -> dict[str, str] | AuthRequired:
        declaration = self.declaration
        # A slow authorization server must not use up the tool's time limit.
        with move_on_after(self.timeout_ms / 2_000):
            return await self._authorisation.environment(declaration.name, declaration.auth, call)
        return AuthRequired("the authorization server does not respond in time")
