"""A tool of an MCP server as a Nexus tool."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bridges.base import BridgedTool
from nexus_tools.bridges.mcp.interface import Interface
from nexus_tools.bridges.mcp.link import CallFailedError
from nexus_tools.bridges.mcp.listing import ListedTool
from nexus_tools.bridges.mcp.supervisor import Service
from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.schemas.variants import error, process_limits, with_description
from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, ToolFqn, with_annotations


class McpTool(BridgedTool):
    """A tool that calls `listed` on the server that `service` keeps running."""

    def __init__(
        self,
        fqn: ToolFqn,
        listed: ListedTool,
        service: Service,
        source: str,
    ) -> None:
        self.name = listed.name
        self.service = service
        self._interface = Interface.of(listed)
        redaction = service.redaction
        super().__init__(
            fqn,
            system="mcp",
            source=source,
            description=redaction.text(with_description(listed.description)),
            input_schema=redaction.value(
                with_annotations(self._interface.inputs.schema, listed.annotations)
            ),
            output_schema=redaction.value(self._interface.output_schema),
            timeout_ms=service.timeout_ms,
            health=self._check_health,
            confinement=service.confinement,
        )
        self.variables = service.variables
        self._seconds = process_limits(ProcessLimits(), service.timeout_ms).time_ms / 1_000

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the tool. Every error of the server becomes the variant `err`.

        Outcomes are public, so the server's secrets are redacted.

        Raises:
            NotReadyError: if the call could not be sent.
        """
        call_arguments = self._interface.inputs.to_arguments(arguments)
        try:
            result = await self.service.call(self.name, call_arguments, self._seconds)
        except CallFailedError as failed:
            output = failed.as_output(is_shared=not self.service.is_per_call)
            return self._redacted(output)
        return self._redacted(self._interface.output(result))

    def _redacted(self, output: Mapping[str, Any]) -> dict[str, Any]:
        """Return the output with unchanged variant names and without secrets in the ports."""
        redaction = self.service.redaction
        return {variant: redaction.value(ports) for variant, ports in output.items()}

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Return the answer, which is `err` if the result violates the tool's own schema."""
        try:
            return await super().answer(arguments)
        except ValidationError as mismatch:
            if mismatch.code != "output_invalid":
                raise
            reason = f"the result of the tool does not match its output schema: {mismatch.message}"
            return self._validator.check_output(error(reason))

    async def _check_health(self) -> dict[str, bool]:
        return await self.service.health(self.name)
