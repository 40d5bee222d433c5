"""The tools of SOS-Toolkit: a function decorated with `@sos_tool`, or an action of a system."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bridges.base import BridgedTool, BridgeHost
from nexus_tools.bridges.schemas.variants import (
    closed_object_schema,
    error_schema,
    output_schema,
    process_limits,
    with_description,
)
from nexus_tools.bridges.sos.child_client import (
    PLUGIN_TOOL,
    Options,
    ask_child,
    confined_to,
    outcome,
)
from nexus_tools.bridges.sos.description import Interface, ToolDescription
from nexus_tools.bridges.sos.system_file import System, tool_names_in
from nexus_tools.tool import ToolFqn

SYSTEM = "sos"


class SosTool(BridgedTool):
    """A tool that calls a decorated function.

    Each call loads the file in a new process, so calls do not share state.
    """

    def __init__(
        self,
        fqn: ToolFqn,
        tool: ToolDescription,
        *,
        runtime: str,
        host: BridgeHost,
        options: Options,
    ) -> None:
        self._tool = tool
        self._host = host
        self._options = options
        self._interface = Interface.of(tool)
        self._confined = confined_to(host, options, tool.file.parent)
        super().__init__(
            fqn,
            system=SYSTEM,
            source=f"{tool.file}:{tool.name} on {runtime}",
            description=with_description(tool.text),
            input_schema=self._interface.mapping.schema,
            output_schema=self._interface.output_schema,
            timeout_ms=host.timeout_ms,
            confinement=self._confined,
        )

    def requirements(self) -> dict[str, bool]:
        """Return whether the file of the tool exists."""
        return {"present": self._tool.file.is_file()}

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function. Return `ok` with its return value, or `err` with its exception."""
        limits = process_limits(self._host.limits, self.timeout_ms)
        request = self._request(arguments)
        reply = await ask_child(self._host, request, limits, self._confined)
        return outcome(reply, self.fqn)

    def _request(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        call_arguments = self._interface.mapping.to_arguments(ports)
        context = call_arguments.pop(self._interface.context or "", {})
        result = call_arguments.pop(self._interface.result or "", None)
        namespaces_folder = self._tool.file.parent.parent
        return {
            "verb": "call",
            "file": str(self._tool.file),
            "name": self._tool.full_name,
            "arguments": call_arguments,
            "context": context,
            "result": result,
            "folders": [str(folder) for folder in (namespaces_folder, *self._options.tools)],
            "denied": sorted(self._options.denied),
        }


# --- An action of a system, or a list of actions


_INPUT = closed_object_schema(
    {
        "context": {
            "type": "object",
            "description": "Values that override the system's values: {'namespace': {…}}.",
            # Only the author of the system defines its actions and its location.
            "properties": {"action": False, "hook": False, "meta": False},
        }
    }
)
_OK = closed_object_schema(
    {
        "results": {
            "type": "object",
            "description": "The return value of each action by name, or {} for a skipped action.",
        },
        "context": {
            "type": "object",
            "description": "The final context: namespace, service, and the system's own sections.",
        },
        "left_out": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Paths of values that JSON cannot represent, such as results.one.data.",
        },
        "broke": {"type": "string", "description": "The reason why a list of actions ended early."},
    },
    required=["results", "context"],
)


class SosActionTool(BridgedTool):
    """A tool that runs an action of a system.

    Each call loads the system in a new process, and runs the loading hook and the action.
    """

    def __init__(
        self, fqn: ToolFqn, system: System, action: str, *, host: BridgeHost, options: Options
    ) -> None:
        self._document = system.document
        self._action = action
        self._host = host
        self._options = options
        self._confined = confined_to(host, options, system.file.parent)
        super().__init__(
            fqn,
            system=SYSTEM,
            source=f"{system.file}:{action}",
            description=_description(system, action),
            input_schema=_INPUT,
            output_schema=output_schema({"ok": _OK, "err": error_schema()}),
            timeout_ms=host.timeout_ms,
            confinement=self._confined,
        )

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the actions. Return `ok` with all results, or `err` with an action's exception."""
        request = {
            "verb": "run",
            "document": self._document,
            "action": self._action,
            "context": arguments.get("context", {}),
            "folders": [str(folder) for folder in self._options.tools],
            "denied": sorted(self._options.denied - {PLUGIN_TOOL}),
            "keep_result": self._options.keep_result,
        }
        limits = process_limits(self._host.limits, self.timeout_ms)
        reply = await ask_child(self._host, request, limits, self._confined)
        return outcome(reply, self.fqn)


def _description(system: System, action: str) -> str:
    author_description = system.document["meta"].get("system_description")
    tools = ", ".join(dict.fromkeys(tool_names_in(system.actions[action]))) or "nothing"
    intro = f"Runs {action} of the system {system.name}: {tools}."
    return with_description(f"{intro} {author_description}" if author_description else intro)
