"""One function that is decorated with `@sos_tool`, as a Nexus tool."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bridges.base import BridgedTool, Host
from nexus_tools.bridges.sos.asking import Options, ask_child, outcome
from nexus_tools.bridges.sos.description import Interface, ToolDescription
from nexus_tools.bridges.variants import described, process_limits
from nexus_tools.tool import ToolFqn

SYSTEM = "sos"


class SosTool(BridgedTool):
    """Each call loads the tool's file in a process of its own: nothing is left of a call before."""

    def __init__(
        self, fqn: ToolFqn, tool: ToolDescription, *, runtime: str, host: Host, options: Options
    ) -> None:
        self._tool = tool
        self._host = host
        self._options = options
        self._interface = Interface.of(tool)
        super().__init__(
            fqn,
            system=SYSTEM,
            source=f"{tool.file}:{tool.name} on {runtime}",
            description=described(tool.text),
            input_schema=self._interface.mapping.schema,
            output_schema=self._interface.output_schema,
            timeout_ms=host.timeout_ms,
        )

    async def answer(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function: `ok` with what it returned, `err` with what it raised."""
        limits = process_limits(self._host.limits, self.timeout_ms)
        return outcome(await ask_child(self._host, self._request(arguments), limits), self.fqn)

    def _request(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        given = self._interface.mapping.to_arguments(ports)
        context = given.pop(self._interface.context or "", {})
        result = given.pop(self._interface.result or "", None)
        beside = self._tool.file.parent.parent
        return {
            "verb": "call",
            "file": str(self._tool.file),
            "name": self._tool.full_name,
            "arguments": given,
            "context": context,
            "result": result,
            "folders": [str(folder) for folder in (beside, *self._options.tools)],
            "denied": sorted(self._options.denied),
        }
