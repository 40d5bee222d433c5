"""The on-chain encoding of a workflow's plan: vertices, blocks, edges and ports as numbers.

The Move modules `dag` and `plan` define the numbers. Equal plans have equal encodings, so anyone
who has the document can verify the on-chain plan.
"""

from collections.abc import Sequence

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.contracts.move_bindings.workflows.dag import Group
from nexus_tools.contracts.move_bindings.workflows.plan import (
    Block,
    CollectEdge,
    Edge,
    Input,
    Port,
    Source,
    Variant,
    Vertex,
)
from nexus_tools.registry.workflows.limits import EncodedPlan, check_plan
from nexus_tools.workflow import (
    BlockKind,
    Default,
    Document,
    EdgeKind,
    InputPort,
    Plan,
    PlannedBlock,
    PlannedEdge,
    PlannedVertex,
    Storage,
    create_plan,
)

BLOCK_NUMBER_OFFSET = 0x8000
"""The offset of block numbers in fields that contain a vertex number or a block number."""

_KINDS = {EdgeKind.FOR_EACH: 1, EdgeKind.DO_WHILE: 2, EdgeKind.BREAK: 3, EdgeKind.STATIC: 4}
_WALRUS = "walrus"


def encode_plan(document: Document, plan: Plan | None = None) -> EncodedPlan:
    """Return the encoded plan of a document.

    Raises `workflow_too_large` and the errors of `create_plan`.
    """
    plan = plan or create_plan(document)
    check_plan(document, plan)
    return _Encoder(document, plan).encoded()


class _Encoder:
    def __init__(self, document: Document, plan: Plan) -> None:
        self._document = document
        self._plan = plan
        self._tools = tuple(dict.fromkeys(vertex.fqn for vertex in document.vertices))
        self._tool_numbers = {fqn: number for number, fqn in enumerate(self._tools)}
        self._numbers = {name: number for number, name in enumerate(plan.vertices)}
        self._ports = {
            name: {port: number for number, port in enumerate(vertex.incoming)}
            for name, vertex in plan.vertices.items()
        }

    def encoded(self) -> EncodedPlan:
        groups = tuple(
            Group(name, tuple(sorted(self._numbers[vertex] for vertex in vertices)))
            for name, vertices in self._plan.groups.items()
        )
        return EncodedPlan(
            self._tools,
            groups,
            tuple(map(self._vertex, self._plan.vertices.values())),
            tuple(self._block(number) for number in range(len(self._plan.blocks))),
            self._defaults(),
        )

    # --- Vertices

    def _vertex(self, planned: PlannedVertex) -> Vertex:
        vertex = planned.vertex
        groups = (vertex.name in vertices for vertices in self._plan.groups.values())
        return Vertex(
            self._tool_numbers[vertex.fqn],
            planned.blocks,
            _position(planned.region, planned.blocks),
            bytes(number for number, is_in in enumerate(groups) if is_in),
            vertex.attempts,
            vertex.retry_after_ms,
            vertex.parallel,
            planned.terminates,
            tuple(self._port(planned, port) for port in planned.incoming),
            tuple(
                Variant(name, tuple(self._edge(edge, edge.source.port) for edge in edges))
                for name, edges in planned.variants.items()
            ),
        )

    def _port(self, vertex: PlannedVertex, name: str) -> Port:
        edges = vertex.incoming[name]
        is_static = any(edge.kind is EdgeKind.STATIC for edge in edges)
        flags = (name in vertex.entries, name in vertex.constants, is_static)
        return Port(name, *flags, tuple(map(self._source, vertex.sources(name))))

    def _source(self, edge: PlannedEdge) -> Source:
        is_again = edge.kind is EdgeKind.DO_WHILE
        return Source(self._mixed(edge.origin), is_again, bytes(edge.rounds))

    def _edge(self, edge: PlannedEdge, port: str) -> Edge:
        kind = _KINDS.get(edge.kind, 0)
        source = self._plan.vertices[edge.source.vertex].blocks
        if edge.kind is EdgeKind.BREAK and edge.keeps == len(source):
            kind = 0  # the target is inside the loop, so the edge does not leave the loop
        return Edge(
            edge.number,
            port,
            *self._target(edge.target),
            kind,
            edge.keeps,
            edge.zeros,
            edge.scope,
            edge.element,
            edge.collected_region,
            bytes(edge.rounds),
        )

    def _defaults(self) -> dict[int, Ports]:
        by_vertex: dict[int, dict[str, Value.Variant]] = {}
        for default in self._document.defaults:
            number = self._numbers[default.target.vertex]
            value = default_value(default)
            by_vertex.setdefault(number, {})[default.target.port] = value
        return {
            number: Ports(tuple(sorted(values.items()))) for number, values in by_vertex.items()
        }

    # --- Blocks

    def _block(self, number: int) -> Block:
        block = self._plan.blocks[number]
        return Block(
            block.kind is BlockKind.REGION,
            block.around,
            _position(block.region, block.around),
            tuple(Input(*self._target(need)) for need in block.required_ports),
            tuple(self._numbers[name] for name in block.cursors),
            tuple(map(self._mixed, block.starts)),
            tuple(self._collects(number, block)),
        )

    def _collects(self, number: int, block: PlannedBlock) -> Sequence[CollectEdge]:
        return [
            CollectEdge(
                self._edge(edge, ""),
                tuple(
                    sorted(
                        self._numbers[incoming.source.vertex]
                        for incoming in self._plan.vertices[target.vertex].incoming[target.port]
                        if incoming.collected_region == number
                    )
                ),
            )
            for target, edge in block.collects.items()
        ]

    # --- Numbers

    def _mixed(self, origin: str | int) -> int:
        return origin + BLOCK_NUMBER_OFFSET if isinstance(origin, int) else self._numbers[origin]

    def _target(self, target: InputPort) -> tuple[int, int]:
        return self._numbers[target.vertex], self._ports[target.vertex][target.port]


def _position(region: int | None, blocks: Sequence[int]) -> int | None:
    return None if region is None else blocks.index(region)


def default_ports(document: Document, vertex: str) -> Ports:
    """Return the default values of a vertex as `Ports`."""
    defaults = (default for default in document.defaults if default.target.vertex == vertex)
    return Ports(tuple((default.target.port, default_value(default)) for default in defaults))


def default_value(default: Default) -> Value.Variant:
    """Return the on-chain form of a default value, with storage keys for an off-chain value."""
    data = default.data
    if default.storage is Storage.INLINE:
        [(_, value)] = ports_of({default.target.port: data}).values
        return value
    if isinstance(data, list):
        return Value.RemoteList(_WALRUS, tuple(str(key).encode() for key in data))
    return Value.Remote(_WALRUS, str(data).encode())
