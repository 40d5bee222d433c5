"""The bridge to SOS-Toolkit, which discovers functions and systems and makes tools from them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from nexus_tools.bridges.base import BridgedTool, BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sos.child_client import (
    DANGEROUS_TOOL_HINT,
    DANGEROUS_TOOLS,
    PLUGIN_TOOL,
    Options,
    ask_child,
    confined_to,
)
from nexus_tools.bridges.sos.description import ToolDescription
from nexus_tools.bridges.sos.system_file import System, may_call_tools, tool_names_in
from nexus_tools.bridges.sos.tool import SYSTEM, SosActionTool, SosTool
from nexus_tools.bridges.worker import WorkerError
from nexus_tools.errors import UsageError, ValidationError

SYSTEM_FILE = "sos-system.yaml"

MAX_FILE_BYTES = 2**20
"""The size limit for Python files that are searched for tools."""

_DECORATOR = re.compile(rb"\bsos_tool\b")
_PACKAGE = re.compile(rb"\bsos_toolkit\b")


@dataclass(frozen=True, slots=True)
class Place:
    """The content of a path: files of tools, grouped by namespace, and a system."""

    namespaces: tuple[tuple[Path, ...], ...] = ()
    system: Path | None = None

    @classmethod
    def read(cls, place: Path) -> "Place":
        """Inspect a file, or a folder and its subfolders. The resulting paths are absolute."""
        place = place.resolve()
        if place.is_file():
            if place.name == SYSTEM_FILE:
                return cls(system=place)
            return cls(((place,),)) if _has_tools(place) else cls()
        if not place.is_dir():
            return cls()
        folders = [place, *sorted(child for child in place.glob("*") if child.is_dir())]
        namespaces = tuple(files for folder in folders if (files := _tool_files(folder)))
        system = place / SYSTEM_FILE
        return cls(namespaces, system if system.is_file() else None)

    def __bool__(self) -> bool:
        return bool(self.namespaces or self.system)


def _tool_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in folder.glob("*.py") if _has_tools(file)))


def _has_tools(file: Path) -> bool:
    """Return whether a file uses the decorator. Names that start with `_` are ignored."""
    if file.suffix != ".py" or file.name.startswith("_") or not file.is_file():
        return False
    try:
        text = b"" if file.stat().st_size > MAX_FILE_BYTES else file.read_bytes()
    except OSError:
        return False
    return bool(_DECORATOR.search(text) and _PACKAGE.search(text))


# --- The bridge


class SosBridge:
    """The bridge to `@sos_tool` functions in Python files and the actions of a `sos-system.yaml`.

    `allow_dangerous` also serves the tools in `DANGEROUS_TOOLS`. With `keep_result`, subsequent
    actions can read a result, as SOS-Toolkit documents. SOS-Toolkit itself drops the result.
    `tools` lists additional namespace folders. Actions may call the tools in these folders and the
    tools that the system loads.
    """

    system = SYSTEM

    def __init__(
        self,
        allow_dangerous: bool = False,
        keep_result: bool = True,
        tools: Sequence[Path] = (),
    ) -> None:
        self._options = Options(allow_dangerous, keep_result, tuple(tools))

    def recognises(self, place: Path) -> bool:
        """Return whether the path is a file of tools, a folder of such files, or a system."""
        return bool(Place.read(place))

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Return the tools of each namespace and the system's actions.

        Each namespace is read in a separate process.
        """
        content = await anyio.to_thread.run_sync(Place.read, place)
        discoveries = [await self._read(files, host, naming) for files in content.namespaces]
        if content.system:
            discoveries.append(await self._system(content.system, host, naming))
        return Discovery.merge(discoveries)

    async def _read(self, files: Sequence[Path], host: BridgeHost, naming: Naming) -> Discovery:
        try:
            return await self._namespace(files, host, naming)
        except UsageError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, files[0].parent, error),))

    async def _namespace(
        self, files: Sequence[Path], host: BridgeHost, naming: Naming
    ) -> Discovery:
        """Read all files in one process, or one file per process if the first process fails."""
        request = {"verb": "describe", "files": [str(file) for file in files], "denied": []}
        confinement = confined_to(host, self._options, *(file.parent for file in files))
        reply = await ask_child(host, request, host.limits, confinement)
        if reply.error is None:
            assert isinstance(reply.value, dict)
            return self._described(reply.value, host, naming)
        if len(files) > 1:
            return Discovery.merge([await self._namespace([file], host, naming) for file in files])
        return Discovery(rejected=(_load_refusal(files[0], reply.error, host),))

    def _described(self, reply: dict[str, Any], host: BridgeHost, naming: Naming) -> Discovery:
        tools: list[BridgedTool] = []
        refused = [
            RejectedTool(
                SYSTEM,
                _source(entry["file"], entry["name"]),
                entry["reason"],
                # The name is `namespace.name`, or empty for a file that cannot be loaded.
                fqn=naming.known_fqn(SYSTEM, *entry["name"].split(".")) if entry["name"] else None,
            )
            for entry in reply["refused"]
        ]
        for description in map(ToolDescription.of, reply["tools"]):
            source = _source(description.file, description.full_name)
            known_fqn = naming.known_fqn(SYSTEM, description.namespace, description.name)
            if description.full_name in self._options.denied:
                refused.append(
                    RejectedTool(
                        SYSTEM,
                        source,
                        DANGEROUS_TOOLS[description.full_name],
                        DANGEROUS_TOOL_HINT,
                        known_fqn,
                    )
                )
                continue
            try:
                fqn = naming.fqn(SYSTEM, description.namespace, description.name)
                options = self._options
                runtime = reply["runtime"]
                tool = SosTool(fqn, description, runtime=runtime, host=host, options=options)
                tools.append(tool.called(description.namespace, description.name))
            except ValidationError as error:
                refused.append(RejectedTool.of(SYSTEM, source, error, known_fqn))
        return Discovery(tuple(tools), tuple(refused))

    async def _system(self, file: Path, host: BridgeHost, naming: Naming) -> Discovery:
        try:
            system = await anyio.to_thread.run_sync(System.read, file)
        except ValidationError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, file, error),))
        results = [self._chain(system, action, host, naming) for action in system.actions]
        return Discovery(
            tuple(result for result in results if isinstance(result, SosActionTool)),
            tuple(result for result in results if isinstance(result, RejectedTool)),
        )

    def _chain(
        self, system: System, action: str, host: BridgeHost, naming: Naming
    ) -> SosActionTool | RejectedTool:
        source = _source(system.file, action)
        known_fqn = naming.known_fqn(SYSTEM, system.name, action)
        tool_names = [*tool_names_in(system.on_load), *tool_names_in(system.actions[action])]
        denied = [tool for tool in tool_names if tool in self._options.denied - {PLUGIN_TOOL}]
        if denied:
            reason = f"it calls {denied[0]}: {DANGEROUS_TOOLS[denied[0]]}"
            return RejectedTool(SYSTEM, source, reason, DANGEROUS_TOOL_HINT, known_fqn)
        if not may_call_tools(system.actions[action]):
            return RejectedTool(SYSTEM, source, "none of its actions names a tool", fqn=known_fqn)
        try:
            fqn = naming.fqn(SYSTEM, system.name, action)
            chain = SosActionTool(fqn, system, action, host=host, options=self._options)
            return chain.called(system.name, action)
        except (ValidationError, UsageError) as error:
            return RejectedTool.of(SYSTEM, source, error, known_fqn)


def _source(file: object, name: str) -> str:
    return f"{file}:{name.rpartition('.')[2]}" if name else str(file)


def _load_refusal(file: Path, error: WorkerError, host: BridgeHost) -> RejectedTool:
    """Return the refusal of a file whose tools cannot be listed."""
    if error.type == "ModuleNotFoundError" and "pydantic" in error.message:
        reason = f"{host.python} does not have pydantic 2, which tools require"
    else:
        reason = f"cannot load the file: {error.message}"
    return RejectedTool(SYSTEM, str(file), reason, error.hint(host))
