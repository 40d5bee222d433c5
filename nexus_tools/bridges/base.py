"""The base classes of all bridges. A bridge discovers foreign tools and makes `Tool`s from them."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from anyio import to_thread

from nexus_tools.bridges.naming import Naming, distinct_fqns, duplicate_fqns
from nexus_tools.bridges.sandbox import (
    BRIDGE_PATHS,
    Confinement,
    ProcessLimits,
    interpreter_paths,
)
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, UsageError
from nexus_tools.tool import DEFAULT_TIMEOUT_MS, Answer, FqnPatterns, ToolFqn, protocol
from nexus_tools.tool_server import Health, NotReadyError, Tool

Lifespan = Callable[[Collection[Tool]], AbstractAsyncContextManager[None]]
"""A context that must be open while the given tools are served."""


@dataclass(frozen=True, slots=True)
class BridgeHost:
    """The resources of this machine and its operator that bridges may use.

    `environment` is the operator's environment. A tool receives only the variables that `shared`
    names, even if its own declaration requests more. `python` runs tools that are written in
    Python. `scratch` holds the working directories of calls. `cache` stores build results.
    `timeout_ms` is the time limit of each tool, from 1 000 to 120 000 milliseconds. `confinement`
    defines the resources that every tool may use in addition to its own files.
    """

    python: Path
    scratch: Path
    cache: Path
    environment: Mapping[str, str] = field(repr=False)
    shared: frozenset[str] = frozenset()
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    confinement: Confinement = field(default_factory=Confinement)

    @property
    def shared_environment(self) -> dict[str, str]:
        """The shared environment variables that are set, with the operator's values."""
        names = sorted(self.shared)
        return {name: self.environment[name] for name in names if name in self.environment}

    def confined(self, *own: Path) -> Confinement:
        """Return the confinement of a tool that consists of the paths `own` and runs in `python`.

        Raises:
            UsageError: with code `path_too_broad` if one of the paths contains the operator's home.
        """
        runtime = (*interpreter_paths(self.python), *BRIDGE_PATHS)
        return replace(self.confinement.owning(*own), runtime=runtime)


class BridgedTool(Tool):
    """A foreign tool, served as a Nexus tool.

    `system` is the name of the system, and `source` the location where the tool was found.
    `variables` lists the shared variables that the tool's own declaration asks for. `confinement`
    lists the resources that its processes may use. `confinement` is None for a tool that does not
    run a process on this machine.

    Subclasses implement `run`. An invalid input raises `ValidationError` (422). A tool that fails
    returns an `err…` variant. A tool that cannot start now raises `NotReadyError` (503). Any other
    exception is a failure of the bridge itself (500).
    """

    def __init__(
        self,
        fqn: ToolFqn,
        *,
        system: str,
        source: str,
        description: str,
        input_schema: dict[str, Any],
        output_schema: dict[str, Any],
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        health: Health | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self.system = system
        self.source = source
        self.variables: tuple[str, ...] = ()
        self.confinement = confinement
        self.foreign_name: tuple[ToolFqn, tuple[str, ...]] = (fqn, (fqn.name,))
        super().__init__(
            fqn,
            description=description,
            input_schema=input_schema,
            output_schema=output_schema,
            timeout_ms=timeout_ms,
            health=health,
        )

    def called(self, *labels: str) -> Self:
        """Set the foreign labels of the FQN, because several labels can map to the same FQN."""
        self.foreign_name = (self.foreign_name[0], labels)
        return self

    def requirements(self) -> Mapping[str, bool]:
        """Return a mapping from the name of each requirement to whether this machine meets it.

        Subclasses override this method with checks that take negligible time.
        """
        return {}

    async def check_health(self) -> dict[str, bool]:
        """Return the results of all checks by name: the requirements and the tool's own checks."""
        return {**await to_thread.run_sync(self.requirements), **await super().check_health()}

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Run the tool and check its output, as `Tool.answer` does.

        Raises:
            NotReadyError: also if a requirement of the tool is not met on this machine: one of its
                `needs`, its program, or the daemon that runs its image.
        """
        missing = [
            name
            for name, there in (await to_thread.run_sync(self.requirements)).items()
            if not there
        ]
        if missing:
            message = f"{self.fqn} cannot start now: unmet requirements: {', '.join(missing)}"
            raise NotReadyError(message, hint=f"Request GET {protocol.HEALTH} to see its checks.")
        try:
            return await super().answer(arguments)
        except (NotFoundError, UsageError, UnreachableError) as error:
            raise NotReadyError(error.message, code=error.code, hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class RejectedTool:
    """A candidate that cannot be served as a tool: its location, and the reason.

    `fqn` is the FQN that the tool would have, if that is known.
    """

    system: str
    source: str
    reason: str
    hint: str = ""
    fqn: ToolFqn | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, system: str, source: object, error: NexusError, fqn: ToolFqn | None = None
    ) -> "RejectedTool":
        """Return the refusal for an error, including the pointers to the invalid values."""
        failures = [
            f"{failure.get('pointer') or '/'}: {failure.get('message', '')}"
            for failure in error.details.get("failures", ())
        ]
        return cls(system, str(source), "; ".join([error.message, *failures]), error.hint, fqn)


@dataclass(frozen=True, slots=True)
class Discovery:
    """The result of a discovery: tools, refused candidates, and the lifespans to enter for serving.

    The object is not bound to an event loop, so `running` may be entered in another loop.
    `excluded` lists the names of tools that were found but that the patterns exclude.
    """

    tools: tuple[BridgedTool, ...] = ()
    rejected: tuple[RejectedTool, ...] = ()
    lifespans: tuple[Lifespan, ...] = ()
    excluded: tuple[ToolFqn, ...] = ()

    @classmethod
    def merge(cls, discoveries: Iterable["Discovery"]) -> "Discovery":
        """Return one discovery that combines all given ones.

        If tools with different names map to the same FQN, they receive distinct FQNs. If several
        tools have the same name, all of them are refused.
        """
        parts = list(discoveries)
        tools = [tool for part in parts for tool in part.tools]
        for tool, fqn in zip(tools, distinct_fqns(t.foreign_name for t in tools), strict=True):
            tool.fqn = fqn
        counts = duplicate_fqns(tool.fqn for tool in tools)
        sources = {fqn: [tool.source for tool in tools if tool.fqn == fqn] for fqn in counts}
        refused = [_collision(tool, sources[tool.fqn]) for tool in tools if tool.fqn in sources]
        return cls(
            tuple(tool for tool in tools if tool.fqn not in sources),
            tuple(refusal for part in parts for refusal in part.rejected) + tuple(refused),
            tuple(lifespan for part in parts for lifespan in part.lifespans),
        )

    def select(self, patterns: FqnPatterns) -> "Discovery":
        """Return a copy with the tools and refusals that match.

        Refusals without an FQN are included.
        """
        matching = tuple(tool for tool in self.tools if patterns.admit(tool.fqn))
        fqns = [tool.fqn for tool in self.tools] + [r.fqn for r in self.rejected if r.fqn]
        excluded = tuple(fqn for fqn in fqns if not patterns.admit(fqn))
        rejected = tuple(r for r in self.rejected if r.fqn is None or patterns.admit(r.fqn))
        return replace(self, tools=matching, rejected=rejected, excluded=excluded)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Enter the lifespans of the tools, which can be invoked inside this context."""
        async with AsyncExitStack() as stack:
            for lifespan in self.lifespans:
                await stack.enter_async_context(lifespan(self.tools))
            yield


class Bridge(Protocol):
    """The bridge to one system. The constructor of a bridge takes the options of the system."""

    @property
    def system(self) -> str:
        """The name of the system, for example `nora`."""
        ...

    def recognises(self, place: Path) -> bool:
        """Return whether the path looks like a tool of this system, without running code."""
        ...

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Return the tools in a location that this bridge recognises.

        `rejected` lists each candidate that cannot be a tool. An exception is raised only if the
        location as a whole cannot be used.
        """
        ...


def _collision(tool: BridgedTool, sources: list[str]) -> RejectedTool:
    others = ", ".join(source for source in sources if source != tool.source) or tool.source
    return RejectedTool(
        tool.system,
        tool.source,
        f"another tool has the same FQN {tool.fqn}: {others}",
        "Serve the tools separately, each with its own --domain.",
        tool.fqn,
    )
