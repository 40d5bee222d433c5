"""The bridge to SOS-Toolkit: finds functions and systems, and makes tools of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from nexus_tools.bridges.base import BridgedTool, Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sos.child_client import (
    DANGEROUS,
    HINT,
    PLUGIN_TOOL,
    Options,
    ask_child,
    confined_to,
)
from nexus_tools.bridges.sos.description import ToolDescription
from nexus_tools.bridges.sos.system_file import System, may_run, tools_in
from nexus_tools.bridges.sos.tool import SYSTEM, SosChain, SosTool
from nexus_tools.bridges.worker import WorkerError
from nexus_tools.errors import UsageError, ValidationError

SYSTEM_FILE = "sos-system.yaml"

MAX_FILE_BYTES = 2**20
"""A larger file of Python is not looked into, and so has no tools."""

_DECORATOR = re.compile(rb"\bsos_tool\b")
_PACKAGE = re.compile(rb"\bsos_toolkit\b")


@dataclass(frozen=True, slots=True)
class Place:
    """What lies in a place: files of tools, those of one namespace together, and a system."""

    namespaces: tuple[tuple[Path, ...], ...] = ()
    system: Path | None = None

    @classmethod
    def read(cls, place: Path) -> "Place":
        """Look at a file, or at a folder and the folders in it; paths are absolute in the end."""
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
    """Whether it uses the decorator; a name that begins with `_` is of no module of tools."""
    if file.suffix != ".py" or file.name.startswith("_") or not file.is_file():
        return False
    try:
        text = b"" if file.stat().st_size > MAX_FILE_BYTES else file.read_bytes()
    except OSError:
        return False
    return bool(_DECORATOR.search(text) and _PACKAGE.search(text))


# --- The bridge


class SosBridge:
    """`@sos_tool` functions in folders of Python, and the actions of a `sos-system.yaml`.

    `allow_dangerous` serves the tools of `DANGEROUS` too. `keep_result` keeps a result for the
    actions after it, as documented; SOS-Toolkit itself drops it. `tools` are folders of namespaces
    whose tools actions may call besides those that the system loads.
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
        """Whether it is a file of tools, a folder of them or of such folders, or a system."""
        return bool(Place.read(place))

    async def discover(self, place: Path, host: Host, naming: Naming) -> Discovery:
        """The tools of each namespace, read in a process of its own, and the system's actions."""
        found = await anyio.to_thread.run_sync(Place.read, place)
        parts = [await self._read(files, host, naming) for files in found.namespaces]
        if found.system:
            parts.append(await self._system(found.system, host, naming))
        return Discovery.joined(parts)

    async def _read(self, files: Sequence[Path], host: Host, naming: Naming) -> Discovery:
        try:
            return await self._namespace(files, host, naming)
        except UsageError as error:
            return Discovery(refused=(Refusal.of(SYSTEM, files[0].parent, error),))

    async def _namespace(self, files: Sequence[Path], host: Host, naming: Naming) -> Discovery:
        """One process for all files; if it does not survive one of them, one for each."""
        request = {"verb": "describe", "files": [str(file) for file in files], "denied": []}
        confined = confined_to(host, self._options, *(file.parent for file in files))
        reply = await ask_child(host, request, host.limits, confined)
        if reply.error is None:
            assert isinstance(reply.value, dict)
            return self._described(reply.value, host, naming)
        if len(files) > 1:
            return Discovery.joined([await self._namespace([file], host, naming) for file in files])
        return Discovery(refused=(_broken(files[0], reply.error, host),))

    def _described(self, reply: dict[str, Any], host: Host, naming: Naming) -> Discovery:
        tools: list[BridgedTool] = []
        refused = [
            Refusal(
                SYSTEM,
                _source(each["file"], each["name"]),
                each["reason"],
                # The child says `namespace.name`, or nothing of a file that cannot be loaded.
                fqn=naming.known_fqn(SYSTEM, *each["name"].split(".")) if each["name"] else None,
            )
            for each in reply["refused"]
        ]
        for each in map(ToolDescription.of, reply["tools"]):
            source = _source(each.file, each.full_name)
            known = naming.known_fqn(SYSTEM, each.namespace, each.name)
            if each.full_name in self._options.denied:
                refused.append(Refusal(SYSTEM, source, DANGEROUS[each.full_name], HINT, known))
                continue
            try:
                fqn = naming.fqn(SYSTEM, each.namespace, each.name)
                options = self._options
                runtime = reply["runtime"]
                tool = SosTool(fqn, each, runtime=runtime, host=host, options=options)
                tools.append(tool.called(each.namespace, each.name))
            except ValidationError as error:
                refused.append(Refusal.of(SYSTEM, source, error, known))
        return Discovery(tuple(tools), tuple(refused))

    async def _system(self, file: Path, host: Host, naming: Naming) -> Discovery:
        try:
            system = await anyio.to_thread.run_sync(System.read, file)
        except ValidationError as error:
            return Discovery(refused=(Refusal.of(SYSTEM, file, error),))
        made = [self._chain(system, action, host, naming) for action in system.actions]
        return Discovery(
            tuple(each for each in made if isinstance(each, SosChain)),
            tuple(each for each in made if isinstance(each, Refusal)),
        )

    def _chain(self, system: System, action: str, host: Host, naming: Naming) -> SosChain | Refusal:
        source = _source(system.file, action)
        known = naming.known_fqn(SYSTEM, system.name, action)
        called = [*tools_in(system.on_load), *tools_in(system.actions[action])]
        denied = [tool for tool in called if tool in self._options.denied - {PLUGIN_TOOL}]
        if denied:
            reason = f"it calls {denied[0]}: {DANGEROUS[denied[0]]}"
            return Refusal(SYSTEM, source, reason, HINT, known)
        if not may_run(system.actions[action]):
            return Refusal(SYSTEM, source, "no action in it names a tool", fqn=known)
        try:
            fqn = naming.fqn(SYSTEM, system.name, action)
            chain = SosChain(fqn, system, action, host=host, options=self._options)
            return chain.called(system.name, action)
        except (ValidationError, UsageError) as error:
            return Refusal.of(SYSTEM, source, error, known)


def _source(file: object, name: str) -> str:
    return f"{file}:{name.rpartition('.')[2]}" if name else str(file)


def _broken(file: Path, error: WorkerError, host: Host) -> Refusal:
    """The refusal of a file that cannot even be asked what is in it."""
    if error.type == "ModuleNotFoundError" and "pydantic" in error.message:
        reason = f"{host.python} has no pydantic 2, which tools need"
    else:
        reason = f"loading it fails: {error.message}"
    return Refusal(SYSTEM, str(file), reason, error.hint(host))
