"""A module of tools, described by a process of its own that has imported it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration, ToolAuth
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits
from nexus_tools.bridges.worker import WorkerReply, ask_in_scratch
from nexus_tools.errors import ValidationError

_CHILD = "nexus_tools.bridges.hyperpocket.child"

# A module of tools may import much, and is described once.
_TIME_MS = 60_000


@dataclass(frozen=True, slots=True)
class ModuleDescription:
    """The tools of a module, what of it is none and why, and the places that it asks for."""

    tools: tuple[Declaration, ...]
    refused: tuple[tuple[str, str], ...]
    requested: tuple[str, ...]

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "ModuleDescription":
        """Read the child's reply; a tool whose `auth` is wrong is refused."""
        tools, refused = (
            [],
            [(str(each["name"]), str(each["reason"])) for each in document["refused"]],
        )
        for each in document["tools"]:
            try:
                tools.append(_declaration(each))
            except ValidationError as error:
                refused.append((str(each["name"]), error.message))
        return cls(tuple(tools), tuple(refused), tuple(map(str, document["requested"])))


async def describe(place: Path, host: Host) -> ModuleDescription:
    """Have the module, or the package, at `place` described.

    Raises `ValidationError` with code `module_broken` if it cannot be imported.
    """
    limits = replace(host.limits, time_ms=max(host.limits.time_ms, _TIME_MS))
    request = {"do": "describe", "path": str(place)}
    reply = await ask_child(host, request, limits, confined_to(host, place))
    if reply.error is not None:
        message = f"the module cannot be imported: {reply.error.type}: {reply.error.message}"
        raise ValidationError("module_broken", message, hint=reply.error.hint(host))
    return ModuleDescription.parse(reply.value or {})


def confined_to(host: Host, place: Path) -> Confinement:
    """What the module, or the package, at `place` may touch: it is loaded with its folder."""
    return host.confined(place.parent)


async def ask_child(
    host: Host, request: Mapping[str, Any], limits: ProcessLimits, confinement: Confinement
) -> WorkerReply:
    """Ask the side of the bridge that imports the author's code."""
    return await ask_in_scratch(host, _CHILD, request, limits, confinement)


def _declaration(document: Mapping[str, Any]) -> Declaration:
    return Declaration(
        name=document["name"],
        description=document["description"],
        schema=document["schema"],
        auth=ToolAuth.parse(document["auth"]),
        variables=document["variables"],
    )
