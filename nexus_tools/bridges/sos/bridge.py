"""The bridge to SOS-Toolkit: finds functions and systems, and makes tools of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from nexus_tools.bridges.base import BridgedTool, Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sos.asking import Options, ask_child
from nexus_tools.bridges.sos.chain import SosChain
from nexus_tools.bridges.sos.dangerous import DANGEROUS, HINT, PLUGIN_TOOL
from nexus_tools.bridges.sos.description import ToolDescription
from nexus_tools.bridges.sos.places import Place
from nexus_tools.bridges.sos.system_file import System, may_run, tools_in
from nexus_tools.bridges.sos.tool import SYSTEM, SosTool
from nexus_tools.bridges.worker import WorkerError
from nexus_tools.errors import ValidationError


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
        parts = [await self._namespace(files, host, naming) for files in found.namespaces]
        if found.system:
            parts.append(await self._system(found.system, host, naming))
        return Discovery.joined(parts)

    async def _namespace(self, files: Sequence[Path], host: Host, naming: Naming) -> Discovery:
        """One process for all files; if it does not survive one of them, one for each."""
        request = {"verb": "describe", "files": [str(file) for file in files], "denied": []}
        reply = await ask_child(host, request, host.limits)
        if reply.error is None:
            assert isinstance(reply.value, dict)
            return self._described(reply.value, host, naming)
        if len(files) > 1:
            return Discovery.joined([await self._namespace([file], host, naming) for file in files])
        return Discovery(refused=(_broken(files[0], reply.error, host),))

    def _described(self, reply: dict[str, Any], host: Host, naming: Naming) -> Discovery:
        tools: list[BridgedTool] = []
        refused = [
            Refusal(SYSTEM, _source(each["file"], each["name"]), each["reason"])
            for each in reply["refused"]
        ]
        for each in map(ToolDescription.of, reply["tools"]):
            source = _source(each.file, each.full_name)
            if each.full_name in self._options.denied:
                refused.append(Refusal(SYSTEM, source, DANGEROUS[each.full_name], HINT))
                continue
            try:
                fqn = naming.fqn(SYSTEM, each.namespace, each.name)
                options = self._options
                runtime = reply["runtime"]
                tools.append(SosTool(fqn, each, runtime=runtime, host=host, options=options))
            except ValidationError as error:
                refused.append(Refusal.of(SYSTEM, source, error))
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
        called = [*tools_in(system.on_load), *tools_in(system.actions[action])]
        denied = [tool for tool in called if tool in self._options.denied - {PLUGIN_TOOL}]
        if denied:
            return Refusal(SYSTEM, source, f"it calls {denied[0]}: {DANGEROUS[denied[0]]}", HINT)
        if not may_run(system.actions[action]):
            return Refusal(SYSTEM, source, "no action in it names a tool")
        try:
            fqn = naming.fqn(SYSTEM, system.name, action)
            return SosChain(fqn, system, action, host=host, options=self._options)
        except ValidationError as error:
            return Refusal.of(SYSTEM, source, error)


def _source(file: object, name: str) -> str:
    return f"{file}:{name.rpartition('.')[2]}" if name else str(file)


def _broken(file: Path, error: WorkerError, host: Host) -> Refusal:
    """The refusal of a file that cannot even be asked what is in it."""
    if error.type == "ModuleNotFoundError" and "pydantic" in error.message:
        hint = "install pydantic 2 there, or name another interpreter"
        return Refusal(SYSTEM, str(file), f"{host.python} has no pydantic, which tools need", hint)
    return Refusal(SYSTEM, str(file), f"loading it fails: {error.message}")
