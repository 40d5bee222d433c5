"""The checks of a document against the registered tools that it uses.

Only certain problems are reported. Two schemas are certainly incompatible if they have no JSON type
in common. All other cases depend on the values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nexus_tools.sui.support.suggestions import with_suggestion
from nexus_tools.sui.support.units import sui
from nexus_tools.tool import ASK, WAIT, ToolDefinition, ToolType
from nexus_tools.workflow.document.document import (
    MAX_EXECUTION_MS,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Storage,
    Verifier,
    Vertex,
    VertexKind,
)
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.interfaces.json_types import ANY, LIST, JsonTypes
from nexus_tools.workflow.interfaces.tool_ports import Port, ToolPorts

_KINDS = {ToolType.OFFCHAIN: VertexKind.OFF_CHAIN, ToolType.ONCHAIN: VertexKind.ON_CHAIN}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """The properties of a registered tool that the checks use.

    `leaders` is None if the tool accepts any leader. `is_proven` is whether the domain in the
    tool's name lists its owner. `signs` is whether the chain accepts only answers with the tool's
    signature.
    """

    definition: ToolDefinition
    price_mist: int = 0
    leaders: frozenset[str] | None = None
    is_active: bool = True
    is_proven: bool = True
    signs: bool = False


def lint_interfaces(
    document: Document,
    tools: Mapping[str, ToolFacts],
    leaders: Sequence[str] = (),
    caps_mist: Mapping[str, int] | None = None,
    *,
    strict: bool = False,
) -> list[Violation]:
    """Return the violations found in a document by comparing it with its tools.

    `tools` maps FQNs to the properties of the tools. `leaders` are the leaders of an execution.
    Without leaders, the function checks whether two leaders exist that together serve all tools.
    `caps_mist` maps FQNs to the maximum costs of a run of a tool in MIST. `strict` turns warnings
    into errors.
    """
    found = list(_Interfaces(document, tools, caps_mist or {}).violations(leaders))
    if strict:
        return [replace(violation, severity=Severity.ERROR) for violation in found]
    return found


class _Interfaces:
    """A document, and the interface of the tool of each vertex."""

    def __init__(
        self, document: Document, tools: Mapping[str, ToolFacts], caps_mist: Mapping[str, int]
    ) -> None:
        self._document = document
        self._tools = tools
        self._caps_mist = caps_mist
        fqns = {vertex.fqn for vertex in document.vertices} & tools.keys()
        ports = {fqn: ToolPorts(tools[fqn].definition) for fqn in fqns}
        self._fed: dict[str, set[str]] = {}
        for target in _targets(document):
            self._fed.setdefault(target.vertex, set()).add(target.port)
        self._ports = {
            vertex.name: ports[vertex.fqn] for vertex in document.vertices if vertex.fqn in ports
        }

    def violations(self, leaders: Sequence[str]) -> Iterator[Violation]:
        """Yield all violations, in the order of the document."""
        for index, vertex in enumerate(self._document.vertices):
            pointer = f"/vertices/{index}"
            if vertex.fqn in self._tools:
                cap_mist = self._caps_mist.get(vertex.fqn)
                yield from _vertex(vertex, self._tools[vertex.fqn], cap_mist, pointer)
                yield from self._vertex_ports(vertex, pointer)
            else:
                message = f"The tool {vertex.fqn} is not registered."
                if vertex.fqn in (ASK, WAIT):
                    message += " Its publisher runs `nexus-tools tool register --builtin`."
                else:
                    message = with_suggestion(message, vertex.fqn, self._tools)
                yield Violation("unregistered", message, f"{pointer}/kind/tool_fqn")
        for at, edge in enumerate(self._document.edges):
            yield from self._edge(edge, f"/edges/{at}")
        for at, default in enumerate(self._document.defaults):
            pointer = f"/default_values/{at}"
            yield from self._unknown_input(default.target, f"{pointer}/input_port")
            if default.storage is Storage.INLINE:
                yield from self._default(
                    default.target, default.data, pointer + default.data_pointer
                )
        for at, output in enumerate(self._document.outputs):
            yield from self._unknown_output(output.source, f"/outputs/{at}")
        yield from self._leaders(leaders)

    # --- Ports

    def _vertex_ports(self, vertex: Vertex, pointer: str) -> Iterator[Violation]:
        for at, port in enumerate(vertex.entry_ports):
            target = InputPort(vertex.name, port)
            yield from self._unknown_input(target, f"{pointer}/entry_ports/{at}/name")
        fed = set(vertex.entry_ports)
        fed |= self._fed.get(vertex.name, set())
        for name in self._ports[vertex.name].inputs.required:
            if name not in fed:
                message = f"{vertex.name}.{name} has no value, but {vertex.fqn} requires one."
                yield Violation("unfed_port", message, pointer)

    def _unknown_input(self, target: InputPort, pointer: str) -> Iterator[Violation]:
        ports = self._ports.get(target.vertex)
        if ports and not target.is_order_only and ports.inputs.get(target.port) is None:
            message = f"The tool of {target.vertex} has no input port {target.port!r}."
            message = with_suggestion(message, target.port, ports.inputs.named)
            yield Violation("unknown_port", message, pointer)

    def _unknown_output(self, source: OutputPort, pointer: str) -> Iterator[Violation]:
        tool = self._ports.get(source.vertex)
        if tool is None:
            return
        ports = tool.variant(source.variant)
        if ports is None:
            message = f"The tool of {source.vertex} has no variant {source.variant!r}."
            message = with_suggestion(message, source.variant, tool.variants)
            yield Violation("unknown_variant", message, f"{pointer}/output_variant")
        elif ports.get(source.port) is None:
            message = f"{source.vertex}.{source.variant} has no port {source.port!r}."
            message = with_suggestion(message, source.port, ports.named)
            yield Violation("unknown_port", message, f"{pointer}/output_port")

    def _default(self, target: InputPort, data: Any, pointer: str) -> Iterator[Violation]:
        ports = self._ports.get(target.vertex)
        problem = ports.mismatch(target.port, data) if ports and not target.is_order_only else ""
        # `_unknown_input` reports an unknown port.
        if ports and problem and ports.inputs.get(target.port):
            message = f"The default value of {target} does not match: {problem}."
            yield Violation("value_mismatches", message, pointer)

    # --- Edges

    def _edge(self, edge: Edge, pointer: str) -> Iterator[Violation]:
        yield from self._unknown_output(edge.source, f"{pointer}/from")
        yield from self._unknown_input(edge.target, f"{pointer}/to/input_port")
        source, target = self._source(edge.source), self._target(edge.target)
        if source and not source.is_required:
            message = f"{edge.source} is optional. A run without it fails."
            yield Violation("may_be_missing", message, f"{pointer}/from", Severity.WARNING)
        shape = source.types if source else ANY
        moved = _moved(edge.kind, shape)
        if edge.kind is EdgeKind.FOR_EACH and not shape.may_be(LIST):
            message = f"{edge.source} is {shape}, but for_each needs an array."
            yield Violation("not_a_list", message, pointer)
        elif target and not moved.may_be(target.types):
            message = f"{edge.target} is {target.types}, but the edge passes {moved}."
            yield Violation("value_mismatches", message, pointer)

    def _source(self, source: OutputPort) -> Port | None:
        tool = self._ports.get(source.vertex)
        ports = tool and tool.variant(source.variant)
        return ports.get(source.port) if ports else None

    def _target(self, target: InputPort) -> Port | None:
        tool = self._ports.get(target.vertex)
        return tool.inputs.get(target.port) if tool and not target.is_order_only else None

    # --- Leaders

    def _leaders(self, named: Sequence[str]) -> Iterator[Violation]:
        listing = [
            (f"/vertices/{at}", vertex, listed)
            for at, vertex in enumerate(self._document.vertices)
            if vertex.fqn in self._tools and (listed := self._tools[vertex.fqn].leaders) is not None
        ]
        if named:
            for pointer, vertex, listed in listing:
                if listed.isdisjoint(named):
                    message = f"{vertex.fqn} accepts none of the leaders {', '.join(named)}."
                    yield Violation("no_leader", message, pointer)
        elif not _two_serve_all([listed for _, _, listed in listing]):
            message = (
                "No two leaders together serve all tools of the workflow, and an execution names at"
                " most two."
            )
            yield Violation("no_leader", message, "")


def _vertex(
    vertex: Vertex, tool: ToolFacts, cap_mist: int | None, pointer: str
) -> Iterator[Violation]:
    """Yield the violations of a vertex that concern the tool as a whole, not single ports."""
    place = f"{pointer}/kind/tool_fqn"
    if not tool.is_active:
        yield Violation("inactive", f"{vertex.fqn} does not accept invocations.", place)
    if not tool.is_proven:
        message = f"The domain of {vertex.fqn} does not confirm the owner of the tool."
        yield Violation("unproven", message, place, Severity.WARNING)
    if cap_mist is not None and tool.price_mist > cap_mist:
        price, cap = sui(tool.price_mist), sui(cap_mist)
        message = f"{vertex.fqn} costs {price} per run, but the maximum is {cap}."
        yield Violation("too_dear", message, place)
    kind = _KINDS[tool.definition.type]
    if vertex.kind is not kind:
        message = f"{vertex.fqn} is not {vertex.kind.value}: it is {kind.value}."
        yield Violation("kind", message, f"{pointer}/kind/variant")
    if vertex.verifier is Verifier.REGISTERED_KEY and not tool.signs:
        message = f"{vertex.fqn} does not require signed answers."
        yield Violation("unsigned", message, f"{pointer}/verifier")
    waits = (vertex.attempts - 1) * vertex.retry_after_ms
    if waits + vertex.attempts * tool.definition.timeout_ms > MAX_EXECUTION_MS:
        message = (
            f"The attempts of {vertex.name} can take more than 90 days, which is the maximum"
            " duration of an execution."
        )
        yield Violation("too_slow", message, pointer, Severity.WARNING)


def _targets(document: Document) -> Iterator[InputPort]:
    yield from (edge.target for edge in document.edges)
    yield from (default.target for default in document.defaults)


def _moved(kind: EdgeKind, shape: JsonTypes) -> JsonTypes:
    """Return the types of a value after the value has passed an edge of this kind."""
    if kind is EdgeKind.FOR_EACH:
        return shape.element
    return JsonTypes.list_of(shape) if kind is EdgeKind.COLLECT else shape


def _two_serve_all(listings: Iterable[frozenset[str]]) -> bool:
    """Return whether two leaders exist such that each list contains at least one of the two."""
    distinct = set(listings)
    if not distinct:
        return True
    for first in min(distinct, key=len):
        rest = [listed for listed in distinct if first not in listed]
        if not rest or frozenset.intersection(*rest):
            return True
    return False
