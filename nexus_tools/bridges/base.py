"""What every bridge is: it recognises the tools of its system, and makes `Tool`s of them."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from anyio import to_thread

from nexus_tools.bridges.naming import Naming, collisions, distinct_fqns
from nexus_tools.bridges.sandbox import (
    OWN_PLACES,
    Confinement,
    ProcessLimits,
    interpreter_places,
)
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, UsageError
from nexus_tools.tool import DEFAULT_TIMEOUT_MS, Answer, FqnPatterns, ToolFqn, protocol
from nexus_tools.tool_server import Health, NotReadyError, Tool

Lifespan = Callable[[Collection[Tool]], AbstractAsyncContextManager[None]]
"""What has to live while tools are served; it is told which."""


@dataclass(frozen=True, slots=True)
class Host:
    """What bridges may use of this machine and of its operator.

    `environment` is the operator's: a tool gets of it only what `shared` names, whatever its own
    declaration asks for. `python` runs tools in Python, `scratch` is where calls have their
    directories, `cache` keeps what is built once. `timeout_ms` is the tools' own, 1 000 to 120 000.
    `confinement` is what all tools may touch besides what is theirs.
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
        """The variables of the operator that tools may have, where they are set."""
        names = sorted(self.shared)
        return {name: self.environment[name] for name in names if name in self.environment}

    def confined(self, *own: Path) -> Confinement:
        """What a tool may touch that consists of these places and runs in `python`.

        Raises `UsageError` with code `place_too_wide` if the operator's home is in one of them.
        """
        runtime = (*interpreter_places(self.python), *OWN_PLACES)
        return replace(self.confinement.owning(*own), runtime=runtime)


class BridgedTool(Tool):
    """A tool of another system: `system` is its word, `source` says where it was found.

    `variables` names what its own declaration asks for of the shared variables. `confinement`
    is what its processes may touch; None for a tool that has none on this machine.

    Subclasses implement `run`. An input that does not match raises `ValidationError` (422). A tool
    that fails gives an `err…` variant. A tool that cannot start now raises `NotReadyError` (503).
    Any other exception is a failure of the bridge itself (500).
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
        """Set the labels that the FQN was made of: names may differ where their FQNs do not."""
        self.foreign_name = (self.foreign_name[0], labels)
        return self

    def needs(self) -> Mapping[str, bool]:
        """Return by name what a call needs on this machine, and whether it is there now.

        Subclasses override it with checks that take no time worth mentioning.
        """
        return {}

    async def check_health(self) -> dict[str, bool]:
        """Return what a call needs and the tool's other checks, by name."""
        return {**await to_thread.run_sync(self.needs), **await super().check_health()}

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Run the tool and check its output, as `Tool.answer` does.

        Raises `NotReadyError` also if this machine lacks something that the tool needs to start:
        one of its `needs`, its program, or the daemon that runs its image.
        """
        missing = [
            name for name, there in (await to_thread.run_sync(self.needs)).items() if not there
        ]
        if missing:
            message = f"{self.fqn} cannot start now: {', '.join(missing)} is missing or has changed"
            raise NotReadyError(message, hint=f"GET {protocol.HEALTH} shows its checks")
        try:
            return await super().answer(arguments)
        except (NotFoundError, UsageError, UnreachableError) as error:
            raise NotReadyError(error.message, code=error.code, hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that looks like a tool and cannot be one: where it is, and why.

    `fqn` is the FQN that it would have, if that is known.
    """

    system: str
    source: str
    reason: str
    hint: str = ""
    fqn: ToolFqn | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, system: str, source: object, error: NexusError, fqn: ToolFqn | None = None
    ) -> "Refusal":
        """The refusal for an error; the places that are wrong stand in the reason."""
        failures = [
            f"{failure.get('pointer') or '/'}: {failure.get('message', '')}"
            for failure in error.details.get("failures", ())
        ]
        return cls(system, str(source), "; ".join([error.message, *failures]), error.hint, fqn)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found in a place: tools, refusals, and what has to live while tools are served.

    Nothing in it belongs to an event loop: `running` may be entered in another one. `left_out` are
    the names of tools that were found, and are not meant.
    """

    tools: tuple[BridgedTool, ...] = ()
    refused: tuple[Refusal, ...] = ()
    lifespans: tuple[Lifespan, ...] = ()
    left_out: tuple[ToolFqn, ...] = ()

    @classmethod
    def joined(cls, discoveries: Iterable["Discovery"]) -> "Discovery":
        """Return all of them together.

        Tools with different names that lead to one FQN get FQNs of their own. Tools with the same
        name are refused, each of them.
        """
        parts = list(discoveries)
        tools = [tool for part in parts for tool in part.tools]
        for tool, fqn in zip(tools, distinct_fqns(t.foreign_name for t in tools), strict=True):
            tool.fqn = fqn
        twice = collisions(tool.fqn for tool in tools)
        sources = {fqn: [tool.source for tool in tools if tool.fqn == fqn] for fqn in twice}
        refused = [_collision(tool, sources[tool.fqn]) for tool in tools if tool.fqn in sources]
        return cls(
            tuple(tool for tool in tools if tool.fqn not in sources),
            tuple(refusal for part in parts for refusal in part.refused) + tuple(refused),
            tuple(lifespan for part in parts for lifespan in part.lifespans),
        )

    def chosen(self, patterns: FqnPatterns) -> "Discovery":
        """Return the tools that the patterns admit, and the refusals that may be of such tools."""
        meant = tuple(tool for tool in self.tools if patterns.admit(tool.fqn))
        named = [tool.fqn for tool in self.tools] + [r.fqn for r in self.refused if r.fqn]
        left_out = tuple(fqn for fqn in named if not patterns.admit(fqn))
        refused = tuple(r for r in self.refused if r.fqn is None or patterns.admit(r.fqn))
        return replace(self, tools=meant, refused=refused, left_out=left_out)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which the tools can be invoked."""
        async with AsyncExitStack() as stack:
            for lifespan in self.lifespans:
                await stack.enter_async_context(lifespan(self.tools))
            yield


class Bridge(Protocol):
    """One system. Its own options are given to its constructor."""

    @property
    def system(self) -> str:
        """The system's word, as in `nora`."""
        ...

    def recognises(self, place: Path) -> bool:
        """Whether the file or folder looks like one of this system; reads, and runs nothing."""
        ...

    async def discover(self, place: Path, host: Host, naming: Naming) -> Discovery:
        """The tools in a place that this bridge recognises.

        What cannot be a tool is in `refused`, one by one; raises only for the place as a whole.
        """
        ...


def _collision(tool: BridgedTool, sources: list[str]) -> Refusal:
    others = ", ".join(source for source in sources if source != tool.source) or tool.source
    return Refusal(
        tool.system,
        tool.source,
        f"another tool would be called {tool.fqn} too: {others}",
        "serve them apart, each with its own --domain",
        tool.fqn,
    )
