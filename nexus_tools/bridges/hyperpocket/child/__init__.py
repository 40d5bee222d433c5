"""The process of a tool in Python: it finds the tools of a module and calls one of them.

The process requires Python 3.10 or later with pydantic, and uses only this folder of the package.
Start reading at `reply`.
"""

from __future__ import annotations

from typing import Any

from nexus_tools.bridges.hyperpocket.child.discovery import Finding, find_tools
from nexus_tools.bridges.hyperpocket.child.invocation import call, described
from nexus_tools.bridges.hyperpocket.child.loading import load
from nexus_tools.bridges.worker.child import loading


def reply(request: dict[str, Any]) -> Any:
    """Handle `{"do": "describe" | "call", "path": …}`.

    A call includes a tool name and arguments.
    """
    if request["do"] == "describe":
        return _describe(find_tools(load(request["path"])))
    with loading():
        finding = find_tools(load(request["path"]))
    return _call(finding, request)


def _describe(finding: Finding) -> dict[str, Any]:
    tools, refused = [], list(finding.refused)
    for tool in finding.tools:
        try:
            tools.append(described(tool))
        except Exception as error:  # noqa: BLE001 - untrusted code may raise anything
            refused.append((str(tool.name), f"{type(error).__name__}: {error}"))
    return {
        "tools": tools,
        "refused": [{"name": name, "reason": reason} for name, reason in refused],
        "requested": finding.requested,
    }


def _call(finding: Finding, request: dict[str, Any]) -> Any:
    tools = [tool for tool in finding.tools if tool.name == request["name"]]
    if not tools:
        message = f"the module no longer has a tool {request['name']}"
        raise LookupError(message)
    return call(tools[0], request)
