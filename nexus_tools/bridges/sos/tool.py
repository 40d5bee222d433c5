"""Tools of SOS-Toolkit: a function that is decorated with `@sos_tool`, or an action of a system."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bridges.base import BridgedTool, Host
from nexus_tools.bridges.schemas.variants import (
    described,
    error_ports,
    object_of,
    output_schema,
    process_limits,
)
from nexus_tools.bridges.sos.child_client import (
    PLUGIN_TOOL,
    Options,
    ask_child,
    confined_to,
    outcome,
)
from nexus_tools.bridges.sos.description import Interface, ToolDescription
from nexus_tools.bridges.sos.system_file import System, tools_in
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
        self._confined = confined_to(host, options, tool.file.parent)
        super().__init__(
            fqn,
            system=SYSTEM,
            source=f"{tool.file}:{tool.name} on {runtime}",
            description=described(tool.text),
            input_schema=self._interface.mapping.schema,
            output_schema=self._interface.output_schema,
            timeout_ms=host.timeout_ms,
            confinement=self._confined,
        )

    def needs(self) -> dict[str, bool]:
        """Return whether the file of the tool is there."""
        return {"present": self._tool.file.is_file()}

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function: `ok` with what it returned, `err` with what it raised."""
        limits = process_limits(self._host.limits, self.timeout_ms)
        request = self._request(arguments)
        reply = await ask_child(self._host, request, limits, self._confined)
        return outcome(reply, self.fqn)

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


# --- An action of a system, or a list of them


_INPUT = object_of(
    {
        "context": {
            "type": "object",
            "description": "Values over those of the system, by section: {'namespace': {…}}.",
            # What the system does, and where it lies, is for its author to say.
            "properties": {"action": False, "hook": False, "meta": False},
        }
    }
)
_OK = object_of(
    {
        "results": {
            "type": "object",
            "description": "What each action returned, by its name; {} for one that was skipped.",
        },
        "context": {
            "type": "object",
            "description": "The context in the end: namespace, service and sections of its own.",
        },
        "left_out": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Where objects stood that JSON cannot express, as in results.one.data.",
        },
        "broke": {"type": "string", "description": "Why a list of actions was left early."},
    },
    required=["results", "context"],
)


class SosChain(BridgedTool):
    """Each call loads the system in a process of its own, runs its hook, and then the action."""

    def __init__(
        self, fqn: ToolFqn, system: System, action: str, *, host: Host, options: Options
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
            output_schema=output_schema({"ok": _OK, "err": error_ports()}),
            timeout_ms=host.timeout_ms,
            confinement=self._confined,
        )

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the actions: `ok` with all their results, `err` with what one of them raised."""
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
    said = system.document["meta"].get("system_description")
    tools = ", ".join(dict.fromkeys(tools_in(system.actions[action]))) or "nothing"
    intro = f"Runs {action} of the system {system.name}: {tools}."
    return described(f"{intro} {said}" if said else intro)
