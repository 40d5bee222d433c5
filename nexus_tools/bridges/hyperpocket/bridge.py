"""The bridge to Hyperpocket."""

import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from nexus_tools.bridges.base import BridgedTool, BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.credentials import CredentialStore
from nexus_tools.bridges.hyperpocket.auth import AuthProvider
from nexus_tools.bridges.hyperpocket.build import Build, Builder
from nexus_tools.bridges.hyperpocket.credential_resolver import CredentialResolver
from nexus_tools.bridges.hyperpocket.description import describe
from nexus_tools.bridges.hyperpocket.manifest import Manifest, is_packaged
from nexus_tools.bridges.hyperpocket.packaged import PackagedTool
from nexus_tools.bridges.hyperpocket.python_tool import PythonTool
from nexus_tools.bridges.hyperpocket.runtime import detect_language
from nexus_tools.bridges.hyperpocket.tool import SYSTEM
from nexus_tools.bridges.hyperpocket.tool_auth import Declaration
from nexus_tools.bridges.naming import Naming
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Tool

# Limits for the search in one folder.
_MAX_MODULES = 200
_MAX_BYTES = 2**20

_MARKS = re.compile(
    rb"^\s*(?:from|import)\s+hyperpocket\b|^(?:async\s+)?def\s+initialize_dock\s*\("
    rb"|\.__(?:model|auth|vars)__\s*=",
    re.MULTILINE,
)


def _modules(place: Path) -> list[Path]:
    """Return the modules to load for a path: the file, the package, or each file in the folder."""
    if place.is_file():
        return [place] if _is_module(place) else []
    if (place / "__init__.py").is_file():
        return [place] if any(map(_is_module, _python_files(place))) else []
    return [file for file in _python_files(place) if _is_module(file)]


def _is_recognised(place: Path) -> bool:
    """Return whether a path is a packaged tool or contains modules of tools."""
    return is_packaged(place) or bool(_modules(place))


def _python_files(folder: Path) -> Iterator[Path]:
    return islice(sorted(folder.glob("*.py")), _MAX_MODULES)


def _is_module(file: Path) -> bool:
    if file.suffix != ".py" or not file.is_file():
        return False
    try:
        with file.open("rb") as opened:
            return bool(_MARKS.search(opened.read(_MAX_BYTES)))
    except OSError:
        return False


class HyperpocketBridge:
    """The bridge to packaged Hyperpocket tools and to tools written in Python.

    `credentials` is the operator's store. `providers` maps names to auth providers, as
    `auth_providers` returns them. With `profile`, every tool accepts `body`, `profile`, and
    `thread_id`. Without `builds`, tools that require a build are refused. `variables` overrides the
    variables of tools. `credential_names` overrides the variables in which tools read credentials.
    Both mappings have the tools' own names as keys.
    """

    system = SYSTEM

    def __init__(
        self,
        credentials: CredentialStore | None = None,
        providers: Mapping[str, AuthProvider] | None = None,
        *,
        profile: bool = False,
        builds: bool = True,
        variables: Mapping[str, Mapping[str, str]] | None = None,
        credential_names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._authorisation = CredentialResolver(
            credentials, providers or {}, credential_names or {}
        )
        self._workshop = Builder()
        self._profile = profile
        self._builds = builds
        self._variables = dict(variables or {})

    def recognises(self, place: Path) -> bool:
        """Return whether the path is a packaged tool, a module, or a folder of modules."""
        return _is_recognised(place)

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Return the tools at a path. Packaged tools are built later, while they are served."""
        if is_packaged(place):
            discoveries = [self._packaged(place, host, naming)]
        else:
            discoveries = [await self._module(module, host, naming) for module in _modules(place)]
        discovery = Discovery.merge(discoveries)
        return replace(discovery, lifespans=(self._serving,) if discovery.tools else ())

    @asynccontextmanager
    async def _serving(self, tools: Collection[Tool]) -> AsyncIterator[None]:
        """Keep sign-ins and the builds of packaged tools running while the tools are served."""
        builds = [tool.build for tool in tools if isinstance(tool, PackagedTool)]
        async with self._authorisation.running(), self._workshop.building(builds):
            yield

    async def _module(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        try:
            description = await describe(place, host)
        except NexusError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, place, error),))
        refused = [
            RejectedTool(SYSTEM, f"{place}#{name}", reason, fqn=naming.known_fqn(SYSTEM, name))
            for name, reason in description.refused
        ]
        tools = [
            _discover_one(
                f"{place}#{declaration.name}",
                partial(self._python_tool, place, declaration, host, naming),
                naming.known_fqn(SYSTEM, declaration.name),
            )
            for declaration in description.tools
        ]
        requested = [
            self._requested_tool(place, path, host, naming) for path in description.requested
        ]
        return Discovery.merge([Discovery(rejected=tuple(refused)), *tools, *requested])

    def _packaged(self, folder: Path, host: BridgeHost, naming: Naming) -> Discovery:
        try:
            manifest = Manifest.read(folder)
        except NexusError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, folder, error),))
        return _discover_one(
            folder,
            partial(self._packaged_tool, folder, manifest, host, naming),
            naming.known_fqn(SYSTEM, manifest.declaration.name),
        )

    def _requested_tool(
        self, place: Path, requested_path: str, host: BridgeHost, naming: Naming
    ) -> Discovery:
        """Return a packaged tool that a module requests by its path."""
        folder = place.parent / requested_path
        if "://" not in requested_path and is_packaged(folder):
            return self._packaged(folder, host, naming)
        reason = f"the requested packaged tool {requested_path[:200]} is not a local folder"
        hint = "Download the packaged tool, and pass its folder as another location."
        return Discovery(rejected=(RejectedTool(SYSTEM, str(place), reason, hint),))

    def _packaged_tool(
        self, folder: Path, manifest: Manifest, host: BridgeHost, naming: Naming
    ) -> PackagedTool:
        language = detect_language(manifest, host)
        if manifest.build and not self._builds:
            raise UsageError("builds_disabled", "the tool must be built, but builds are disabled")
        tool = PackagedTool(
            naming.fqn(SYSTEM, manifest.declaration.name),
            self._with_operator_variables(manifest.declaration),
            self._authorisation,
            host,
            command=manifest.run,
            build=Build(folder, manifest, language, host),
            profile=self._profile,
        )
        return tool.called(manifest.declaration.name)

    def _python_tool(
        self, place: Path, declaration: Declaration, host: BridgeHost, naming: Naming
    ) -> PythonTool:
        tool = PythonTool(
            naming.fqn(SYSTEM, declaration.name),
            self._with_operator_variables(declaration),
            self._authorisation,
            host,
            place=place,
            profile=self._profile,
        )
        return tool.called(declaration.name)

    def _with_operator_variables(self, declaration: Declaration) -> Declaration:
        """Return the declaration with the operator's variables overriding the tool's defaults."""
        operator_variables = self._variables.get(declaration.name, {})
        return replace(declaration, variables={**declaration.variables, **operator_variables})


def _discover_one(
    source: object, make: Callable[[], BridgedTool], known_fqn: ToolFqn | None = None
) -> Discovery:
    try:
        return Discovery(tools=(make(),))
    except NexusError as error:
        return Discovery(rejected=(RejectedTool.of(SYSTEM, source, error, known_fqn),))
