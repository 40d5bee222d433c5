"""Requests to the child process: its confinement, denied tools, and the conversion of failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, is_too_broad
from nexus_tools.bridges.worker import WorkerReply, call_worker_in_scratch, failure
from nexus_tools.tool import ToolFqn

PLUGIN_TOOL = "context.tool_module"
"""The tool with which a system loads its own tools. Actions may call it with the author's path."""

DANGEROUS_TOOLS = MappingProxyType(
    {
        "cli.cmd_popen": "the tool runs any program that the caller names",
        PLUGIN_TOOL: "the tool runs any Python file that the caller names",
        "context.runtime_breakpoint": "the tool waits for a debugger",
        "docker.compose_up": "the tool starts containers, which can change this machine",
        "docker.container_run": "the tool starts containers, which can change this machine",
        "filesystem.directory_delete": "the tool deletes any folder that the caller names",
        "terminal.input_prompt": "the tool waits for input at a terminal",
    }
)
"""The reason why a tool is dangerous, by `namespace.name`."""

DANGEROUS_TOOL_HINT = "To serve the tool anyway, pass --allow-dangerous to `nexus-tools bridge`."


_CHILD = "nexus_tools.bridges.sos.child"


@dataclass(frozen=True, slots=True)
class Options:
    """The operator's options: dangerous tools, the lifetime of a result, and additional tools.

    With `keep_result`, a result is available until the end of its action list, as documented.
    Without `keep_result`, a result is available until the end of its own action, as in SOS-Toolkit.
    `tools` lists additional namespace folders.
    """

    allow_dangerous: bool = False
    keep_result: bool = True
    tools: tuple[Path, ...] = ()

    @property
    def denied(self) -> frozenset[str]:
        """The tools that must not run, by `namespace.name`."""
        return frozenset() if self.allow_dangerous else frozenset(DANGEROUS_TOOLS)


def confined_to(host: BridgeHost, options: Options, *own: Path) -> Confinement:
    """Return the confinement of a child that loads files of the folders `own`.

    A namespace is a folder beside other namespaces whose tools it may call. Therefore the parent
    folder is readable as well, unless it contains the operator's home.
    """
    parents = [folder.parent for folder in own if not is_too_broad(folder.parent)]
    return host.confined(*own, *options.tools).reading(*parents)


async def ask_child(
    host: BridgeHost, request: Mapping[str, Any], limits: ProcessLimits, confinement: Confinement
) -> WorkerReply:
    """Start a child process in a new scratch directory, and return its reply."""
    return await call_worker_in_scratch(host, _CHILD, request, limits, confinement)


def outcome(reply: WorkerReply, tool: ToolFqn) -> dict[str, Any]:
    """Return `ok` with the child's value, or `err` with the reason of its failure."""
    return {"ok": reply.value} if reply.error is None else failure(reply, tool)
