"""How the bridge asks its child: what a request needs, what is denied, what a failure becomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, is_too_wide
from nexus_tools.bridges.worker import WorkerReply, ask_in_scratch, failure
from nexus_tools.tool import ToolFqn

PLUGIN_TOOL = "context.tool_module"
"""How a system loads its own tools; its author says from where, so that actions may call it."""

DANGEROUS = MappingProxyType(
    {
        "cli.cmd_popen": "it runs any program that a caller names",
        PLUGIN_TOOL: "it runs any file of Python that a caller names",
        "context.runtime_breakpoint": "it waits for somebody at a debugger",
        "docker.compose_up": "it starts containers, which may do anything to the machine",
        "docker.container_run": "it starts containers, which may do anything to the machine",
        "filesystem.directory_delete": "it deletes any folder that a caller names",
        "terminal.input_prompt": "it waits for somebody at a terminal",
    }
)
"""Why each of them is dangerous, by `namespace.name`."""

HINT = "if its callers may do that, allow it: nexus-tools bridge … --allow-dangerous"


_CHILD = "nexus_tools.bridges.sos.child"


@dataclass(frozen=True, slots=True)
class Options:
    """What an operator allows: the tools that are dangerous, a result that stays, more tools.

    With `keep_result`, a result stays until the end of its list of actions, as documented; without,
    as SOS-Toolkit does, until the end of its own action. `tools` are folders of namespaces.
    """

    allow_dangerous: bool = False
    keep_result: bool = True
    tools: tuple[Path, ...] = ()

    @property
    def denied(self) -> frozenset[str]:
        """The tools that do not run, by `namespace.name`."""
        return frozenset() if self.allow_dangerous else frozenset(DANGEROUS)


def confined_to(host: Host, options: Options, *own: Path) -> Confinement:
    """What a child may touch that loads files of these folders, and tools that the operator adds.

    A namespace is a folder beside others, whose tools it may call: they are read too, unless they
    lie in the operator's home itself.
    """
    beside = [folder.parent for folder in own if not is_too_wide(folder.parent)]
    return host.confined(*own, *options.tools).reading(*beside)


async def ask_child(
    host: Host, request: Mapping[str, Any], limits: ProcessLimits, confinement: Confinement
) -> WorkerReply:
    """The reply of a fresh child, in a scratch directory of its own."""
    return await ask_in_scratch(host, _CHILD, request, limits, confinement)


def outcome(reply: WorkerReply, tool: ToolFqn) -> dict[str, Any]:
    """`ok` with what the child gave, or `err` with why it did not."""
    return {"ok": reply.value} if reply.error is None else failure(reply, tool)
