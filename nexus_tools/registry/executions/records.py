"""The records of an execution, read from the chain into those of the pure semantics.

On chain, vertices, ports and edges are numbers, and of a value there is but the edge that brought
it: where it came from follows from the path of where it lies.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings import run as move_run
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows import records as moves
from nexus_tools.contracts.move_bindings.workflows.execution import EntryKey, Execution, TermsKey
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.bindings.runtime import MoveStruct
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import (
    BlockKind,
    Brought,
    Collected,
    Cursor,
    EdgeKind,
    InputPort,
    InstanceRecord,
    Path,
    PlannedEdge,
    Records,
    Reference,
    Run,
    RunPhase,
    RunRecord,
    Value,
)

_BLOCKS = 0x8000
"""From here on, the number of an origin is that of a block."""

_OPEN = 1

T = TypeVar("T")


class ExecutionRecords:
    """Reads the records of one execution of a workflow.

    What it reads it keeps in `records`, which are complete for the runs that were asked for; the
    invocation of each run is in `invocations`, and why there is none in `refusals`.
    """

    def __init__(
        self, package: PackageClient, execution: Execution, workflow: PublishedWorkflow
    ) -> None:
        self._package = package
        self._execution = execution
        self._parent = execution.walks.records.id
        self.plan = workflow.plan
        self._sizes = workflow.sizes
        self._names = tuple(self.plan.vertices)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._edges = {edge.number: edge for edge in self._all_edges()}
        self.records = Records(self.plan)
        self.records.group = tuple(self.plan.groups.values())[execution.walks.group]
        self.invocations: dict[Run, Address] = {}
        self.refusals: dict[Run, str] = {}
        self.not_before_ms: dict[Run, int] = {}
        self._iterations: dict[tuple[int, Path], int] = {}

    # --- Reading

    async def read_all(self) -> None:
        """Read all records there are."""
        deployment = self._package.deployment
        run_key, instance_key = map(deployment.type_of, (move_run.Run, moves.Instance))
        for each in await self._package.client.dynamic_fields(self._parent):
            if each.key_type == run_key and each.value is not None:
                run = self.run_of(move_run.Run.bcs.decode(each.key))
                self._keep_run(run, moves.RunRecord.bcs.decode(each.value))
            elif each.key_type == instance_key and each.value is not None:
                key = moves.Instance.bcs.decode(each.key)
                record = moves.InstanceRecord.bcs.decode(each.value)
                self._keep_instance((key.block, tuple(key.path)), record)

    async def read_around(self, run: Run) -> None:
        """Read the record of a run and those of the blocks around it."""
        blocks = self.plan.vertices[run.vertex].blocks
        instances = [(block, run.path[:depth]) for depth, block in enumerate(blocks)]
        await self._read([run], instances)

    async def read_runs(self, runs: Iterable[Run]) -> None:
        """Read the records of runs, those that there are."""
        await self._read([run for run in runs if run not in self.records.runs], [])

    async def elements(self, value: Collected) -> tuple[Reference, ...]:
        """Where the elements of a collected list are, in the order of the iterations.

        Who brought nothing is left out as far as it has no record; what others came to, and so
        whether they brought something, is in their invocations: see `brings`.
        """
        instance = (value.block, value.path)
        if instance not in self._iterations:
            await self._read([], [instance])
        edges = self.edges_to(value)
        iterations = range(self._iterations.get(instance, 0))
        if len(edges) > 1:
            found = await self._marked(value, iterations)
        else:
            found = [
                (Run(edges[0].source.vertex, (*value.path, each)), edges[0]) for each in iterations
            ]
        await self.read_runs(run for run, _ in found)
        return tuple(
            Reference(run, edge.source.port)
            for run, edge in found
            if run in self.records.runs and self.records.runs[run].phase is RunPhase.CLOSED
        )

    def iterations(self, value: Collected) -> int:
        """How many iterations the region of a collected list has, once its elements were read."""
        return self._iterations.get((value.block, value.path), 0)

    def edges_to(self, value: Collected) -> list[PlannedEdge]:
        """The edges by which a region gathers this list."""
        return [
            edge
            for edge in self._edges.values()
            if edge.left == value.block and edge.target == value.target
        ]

    def read_units(self, vertices: Iterable[str], blocks: Iterable[int]) -> int:
        """Return the gas units of reading these vertices and blocks of the workflow."""
        return self._sizes.read_units([self._numbers[each] for each in vertices], blocks)

    async def entry_values(self, vertices: Iterable[str]) -> dict[str, Ports]:
        """The values that were given for the entry ports of vertices, where there are some."""
        names = list(dict.fromkeys(vertices))
        keys = [EntryKey(self._numbers[name]) for name in names]
        found = await self._entries(self._execution.id, keys, Ports)
        return {name: ports for name, ports in zip(names, found, strict=True) if ports is not None}

    async def terms(self) -> Terms:
        """To what its owner consented."""
        [terms] = await self._entries(self._execution.id, [TermsKey()], Terms)
        assert terms is not None, "an execution has terms"
        return terms

    # --- Numbers and names

    def run_of(self, run: move_run.Run) -> Run:
        """A run by its name."""
        return Run(self._names[run.vertex], tuple(run.path))

    def key_of(self, run: Run) -> move_run.Run:
        """A run by its number."""
        return move_run.Run(self._numbers[run.vertex], run.path)

    # --- Private

    def _all_edges(self) -> Iterable[PlannedEdge]:
        for vertex in self.plan.vertices.values():
            for edges in vertex.variants.values():
                yield from edges

    async def _read(self, runs: Sequence[Run], instances: Sequence[tuple[int, Path]]) -> None:
        run_keys = [self.key_of(run) for run in runs]
        instance_keys = [moves.Instance(*each) for each in instances]
        kinds: list[tuple[MoveStruct, type[MoveStruct]]] = [
            *((key, moves.RunRecord) for key in run_keys),
            *((key, moves.InstanceRecord) for key in instance_keys),
        ]
        found = await self._fields(self._parent, kinds)
        for run, record in zip(runs, found, strict=False):
            if record is not None:
                self._keep_run(run, record)
        for instance, record in zip(instances, found[len(runs) :], strict=True):
            if record is not None:
                self._keep_instance(instance, record)

    async def _marked(
        self, value: Collected, iterations: Iterable[int]
    ) -> list[tuple[Run, PlannedEdge]]:
        port = list(self.plan.vertices[value.target.vertex].into).index(value.target.port)
        number = self._numbers[value.target.vertex]
        order = list(iterations)
        keys = [moves.Mark(value.block, value.path, number, port, each) for each in order]
        found = await self._entries(self._parent, keys, moves.Gathered)
        return [
            (Run(self._names[mark.origin], (*value.path, each)), self._edges[mark.edge])
            for each, mark in zip(order, found, strict=True)
            if mark is not None
        ]

    async def _entries(
        self, parent: Address, keys: Sequence[MoveStruct], kind: type[T]
    ) -> list[T | None]:
        value: Any = kind
        return await self._fields(parent, [(key, value) for key in keys])

    async def _fields(
        self, parent: Address, kinds: Sequence[tuple[MoveStruct, type[MoveStruct]]]
    ) -> list[Any]:
        """The values of dynamic fields by key and type of the value; None for what is not there."""
        deployment = self._package.deployment
        ids = []
        for key, _ in kinds:
            codec: Any = key
            tag = TYPE_TAG.encode(deployment.type_of(type(key)))
            ids.append(dynamic_field_id(parent, tag, codec.bcs.encode(key)))
        found = await self._package.client.objects(ids)
        return [
            None
            if value is None
            else deployment.decode_entry(
                value, field_tag(deployment.type_of(type(key)), deployment.type_of(kind))
            )
            for (key, kind), value in zip(kinds, found, strict=True)
        ]

    def _keep_run(self, run: Run, record: moves.RunRecord) -> None:
        ports = list(self.plan.vertices[run.vertex].into)
        kept = RunRecord(phase=RunPhase(record.phase), attempt=record.attempt)
        for each in record.deliveries:
            edge = self._edges[each.edge]
            value = self._value(edge, each.origin, each.round, run.path)
            kept.brought[ports[each.port]] = Brought(edge, value)
        self.records.runs[run] = kept
        self.not_before_ms[run] = record.not_before_ms
        if int.from_bytes(record.invocation):
            self.invocations[run] = record.invocation
        if record.refusal:
            self.refusals[run] = record.refusal

    def _keep_instance(self, instance: tuple[int, Path], record: moves.InstanceRecord) -> None:
        number, path = instance
        block = self.plan.blocks[number]
        is_open = block.kind is BlockKind.REGION and record.phase >= _OPEN
        kept = InstanceRecord(is_open=is_open, live=record.live)
        for head, cursor in zip(block.cursors, record.cursors, strict=False):
            parallel = self.plan.vertices[head].vertex.parallel
            kept.cursors[head] = Cursor(cursor.count, parallel, cursor.next, cursor.outstanding)
        for each in record.brought:
            vertex = self._names[each.vertex]
            target = InputPort(vertex, list(self.plan.vertices[vertex].into)[each.port])
            edge = self._edges[each.edge]
            value = self._value(edge, each.origin, each.round, path)
            kept.brought[target, each.is_static] = Brought(edge, value, each.length)
        self.records.instances[instance] = kept
        self._iterations[instance] = max((each.length for each in record.brought), default=0)

    def _value(self, edge: PlannedEdge, origin: int, last_round: int, place: Path) -> Value:
        """What an edge brought to a place, by reference."""
        kept = place[: edge.keeps]
        if origin >= _BLOCKS:
            return Collected(origin - _BLOCKS, kept, edge.target)
        if edge.kind is EdgeKind.DO_WHILE:
            kept = (*kept[:-1], kept[-1] - 1)
        elif edge.kind is EdgeKind.BREAK:
            kept = (*kept, last_round)
        return Reference(Run(edge.source.vertex, kept), edge.source.port)
