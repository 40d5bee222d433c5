"""The description of a module of tools, made by a separate process that imports the module."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration, ToolAuth
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits
from nexus_tools.bridges.worker import WorkerReply, call_worker_in_scratch
from nexus_tools.errors import ValidationError

_CHILD = "nexus_tools.bridges.hyperpocket.child"

# A module of tools may import many others, but it is described only once.
_TIME_MS = 60_000


@dataclass(frozen=True, slots=True)
class ModuleDescription:
    """The tools of a module, its refused candidates with reasons, and the paths it requests."""

    tools: tuple[Declaration, ...]
    refused: tuple[tuple[str, str], ...]
    requested: tuple[str, ...]

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "ModuleDescription":
        """Parse the child's reply. A tool with an invalid `auth` is refused."""
        tools, refused = (
            [],
            [(str(entry["name"]), str(entry["reason"])) for entry in document["refused"]],
        )
        for entry in document["tools"]:
            try:
                tools.append(_declaration(entry))
            except ValidationError as error:
                refused.append((str(entry["name"]), error.message))
        return cls(tuple(tools), tuple(refused), tuple(map(str, document["requested"])))


async def describe(place: Path, host: BridgeHost) -> ModuleDescription:
    """Return the description of the module or package at `place`.

    Raises:
        ValidationError: with code `module_import_failed` if it cannot be imported.
    """
    limits = replace(host.limits, time_ms=max(host.limits.time_ms, _TIME_MS))
    request = {"do": "describe", "path": str(place)}
    reply = await ask_child(host, request, limits, confined_to(host, place))
    if reply.error is not None:
        message = f"cannot import the module: {reply.error.type}: {reply.error.message}"
        raise ValidationError("module_import_failed", message, hint=reply.error.hint(host))
    return ModuleDescription.parse(reply.value or {})


def confined_to(host: BridgeHost, place: Path) -> Confinement:
    """Return the confinement of the module or package at `place`, which includes its folder."""
    return host.confined(place.parent)


async def ask_child(
    host: BridgeHost, request: Mapping[str, Any], limits: ProcessLimits, confinement: Confinement
) -> WorkerReply:
    """Send a request to the process that imports the author's code, and return its reply."""
    return await call_worker_in_scratch(host, _CHILD, request, limits, confinement)


def _declaration(document: Mapping[str, Any]) -> Declaration:
    return Declaration(
        name=document["name"],
        description=document["description"],
        schema=document["schema"],
        auth=ToolAuth.parse(document["auth"]),
        variables=document["variables"],
    )
