"""A reader of an execution's on-chain records, which it converts to `nexus_tools.workflow.Records`.

On chain, vertices, ports and edges are numbers. The record of a value stores only the edge that
delivered the value. The source run is computed from that edge and the path of the receiving run.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings import run as move_run
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows import records as moves
from nexus_tools.contracts.move_bindings.workflows.execution import EntryKey, Execution, TermsKey
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.errors import NotFoundError
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.bindings.runtime import MoveStruct
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import (
    BlockKind,
    CollectedList,
    Cursor,
    DeliveredValue,
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
"""The smallest block number. Smaller numbers are vertex numbers."""

_OPEN = 1

T = TypeVar("T")


class ExecutionRecords:
    """A reader of the records of one execution.

    `records` accumulates the records that were read. `invocations` maps a run to its invocation.
    `refusals` maps a run without an invocation to the reason why the chain refused it.
    """

    def __init__(
        self, package: PackageClient, execution: Execution, workflow: PublishedWorkflow
    ) -> None:
        self._package = package
        self._execution = execution
        self._parent = execution.progress.records.id
        self.plan = workflow.plan
        self._sizes = workflow.sizes
        self._names = tuple(self.plan.vertices)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._edges = {edge.number: edge for edge in self._all_edges()}
        self.records = Records(self.plan)
        self.records.group = tuple(self.plan.groups.values())[execution.progress.group]
        self.invocations: dict[Run, Address] = {}
        self.refusals: dict[Run, str] = {}
        self.not_before_ms: dict[Run, int] = {}
        self._iterations: dict[tuple[int, Path], int] = {}

    # --- Reading

    async def read_all(self) -> None:
        """Read all existing records."""
        deployment = self._package.deployment
        run_key, instance_key = map(deployment.type_of, (move_run.Run, moves.Instance))
        for field in await self._package.client.dynamic_fields(self._parent):
            if field.key_type == run_key and field.value is not None:
                run = self.run_of(move_run.Run.bcs.decode(field.key))
                self._store_run(run, moves.RunRecord.bcs.decode(field.value))
            elif field.key_type == instance_key and field.value is not None:
                key = moves.Instance.bcs.decode(field.key)
                record = moves.InstanceRecord.bcs.decode(field.value)
                self._store_instance((key.block, tuple(key.path)), record)

    async def read_around(self, run: Run) -> None:
        """Read the record of a run, and the records of the blocks that enclose the run."""
        blocks = self.plan.vertices[run.vertex].blocks
        instances = [(block, run.path[:depth]) for depth, block in enumerate(blocks)]
        await self._read([run], instances)

    async def read_runs(self, runs: Iterable[Run]) -> None:
        """Read the existing records of these runs."""
        await self._read([run for run in runs if run not in self.records.runs], [])

    async def elements(self, value: CollectedList) -> tuple[Reference, ...]:
        """Return references to the elements of a collected list, in the order of the iterations.

        The result omits iterations without a closed run. A closed run may have ended with another
        variant and no element, so the caller must check the outcome of its invocation.
        """
        instance = (value.block, value.path)
        if instance not in self._iterations:
            await self._read([], [instance])
        edges = self.edges_to(value)
        iterations = range(self._iterations.get(instance, 0))
        if len(edges) > 1:
            sources = await self._read_marks(value, iterations)
        else:
            sources = [
                (Run(edges[0].source.vertex, (*value.path, iteration)), edges[0])
                for iteration in iterations
            ]
        await self.read_runs(run for run, _ in sources)
        return tuple(
            Reference(run, edge.source.port)
            for run, edge in sources
            if run in self.records.runs and self.records.runs[run].phase is RunPhase.CLOSED
        )

    def iterations(self, value: CollectedList) -> int:
        """Return the number of iterations of a list's region. First call `elements`."""
        return self._iterations.get((value.block, value.path), 0)

    def edges_to(self, value: CollectedList) -> list[PlannedEdge]:
        """Return the edges through which a region collects this list."""
        return [
            edge
            for edge in self._edges.values()
            if edge.collected_region == value.block and edge.target == value.target
        ]

    def read_units(self, vertices: Iterable[str], blocks: Iterable[int]) -> int:
        """Return the gas units of reading these vertices and blocks of the workflow."""
        return self._sizes.read_units([self._numbers[name] for name in vertices], blocks)

    async def entry_values(self, vertices: Iterable[str]) -> dict[str, Ports]:
        """Return the entry values by vertex. Vertices without entry values are left out."""
        names = list(dict.fromkeys(vertices))
        keys = [EntryKey(self._numbers[name]) for name in names]
        values = await self._entries(self._execution.id, keys, Ports)
        return {name: ports for name, ports in zip(names, values, strict=True) if ports is not None}

    async def terms(self) -> Terms:
        """Return the terms to which the owner consented.

        Raises `execution_unknown` if the execution was deleted after it was read.
        """
        [terms] = await self._entries(self._execution.id, [TermsKey()], Terms)
        if terms is None:
            raise execution_unknown_error(self._execution.id)
        return terms

    # --- Numbers and names

    def run_of(self, run: move_run.Run) -> Run:
        """Convert a run from its on-chain form, which contains a vertex number."""
        return Run(self._names[run.vertex], tuple(run.path))

    def key_of(self, run: Run) -> move_run.Run:
        """Convert a run to its on-chain form, which contains a vertex number."""
        return move_run.Run(self._numbers[run.vertex], run.path)

    # --- Private

    def _all_edges(self) -> Iterable[PlannedEdge]:
        for vertex in self.plan.vertices.values():
            for edges in vertex.variants.values():
                yield from edges

    async def _read(self, runs: Sequence[Run], instances: Sequence[tuple[int, Path]]) -> None:
        run_keys = [self.key_of(run) for run in runs]
        instance_keys = [moves.Instance(*instance) for instance in instances]
        kinds: list[tuple[MoveStruct, type[MoveStruct]]] = [
            *((key, moves.RunRecord) for key in run_keys),
            *((key, moves.InstanceRecord) for key in instance_keys),
        ]
        fields = await self._fields(self._parent, kinds)
        for run, record in zip(runs, fields, strict=False):
            if record is not None:
                self._store_run(run, record)
        for instance, record in zip(instances, fields[len(runs) :], strict=True):
            if record is not None:
                self._store_instance(instance, record)

    async def _read_marks(
        self, value: CollectedList, iterations: Iterable[int]
    ) -> list[tuple[Run, PlannedEdge]]:
        port = list(self.plan.vertices[value.target.vertex].incoming).index(value.target.port)
        number = self._numbers[value.target.vertex]
        order = list(iterations)
        keys = [moves.Mark(value.block, value.path, number, port, iteration) for iteration in order]
        marks = await self._entries(self._parent, keys, moves.MarkedEdge)
        return [
            (Run(self._names[mark.origin], (*value.path, iteration)), self._edges[mark.edge])
            for iteration, mark in zip(order, marks, strict=True)
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
        """Return the values of dynamic fields by key and value type, or None for missing fields."""
        deployment = self._package.deployment
        ids = []
        for key, _ in kinds:
            codec: Any = key
            tag = TYPE_TAG.encode(deployment.type_of(type(key)))
            ids.append(dynamic_field_id(parent, tag, codec.bcs.encode(key)))
        objects = await self._package.client.objects(ids)
        return [
            None
            if value is None
            else deployment.decode_entry(
                value, field_tag(deployment.type_of(type(key)), deployment.type_of(kind))
            )
            for (key, kind), value in zip(kinds, objects, strict=True)
        ]

    def _store_run(self, run: Run, record: moves.RunRecord) -> None:
        ports = list(self.plan.vertices[run.vertex].incoming)
        run_record = RunRecord(phase=RunPhase(record.phase), attempt=record.attempt)
        for delivery in record.deliveries:
            edge = self._edges[delivery.edge]
            value = self._value(edge, delivery.origin, delivery.round, run.path)
            run_record.brought[ports[delivery.port]] = DeliveredValue(edge, value)
        self.records.runs[run] = run_record
        self.not_before_ms[run] = record.not_before_ms
        if int.from_bytes(record.invocation):
            self.invocations[run] = record.invocation
        if record.refusal:
            self.refusals[run] = record.refusal

    def _store_instance(self, instance: tuple[int, Path], record: moves.InstanceRecord) -> None:
        number, path = instance
        block = self.plan.blocks[number]
        is_open = block.kind is BlockKind.REGION and record.phase >= _OPEN
        instance_record = InstanceRecord(is_open=is_open, live=record.live)
        for head, cursor in zip(block.cursors, record.cursors, strict=False):
            parallel = self.plan.vertices[head].vertex.parallel
            instance_record.cursors[head] = Cursor(
                cursor.count, parallel, cursor.next, cursor.in_flight
            )
        for delivery in record.values:
            vertex = self._names[delivery.vertex]
            target = InputPort(vertex, list(self.plan.vertices[vertex].incoming)[delivery.port])
            edge = self._edges[delivery.edge]
            value = self._value(edge, delivery.origin, delivery.round, path)
            instance_record.brought[target, delivery.is_static] = DeliveredValue(
                edge, value, delivery.length
            )
        self.records.instances[instance] = instance_record
        self._iterations[instance] = max((delivery.length for delivery in record.values), default=0)

    def _value(self, edge: PlannedEdge, origin: int, last_round: int, path: Path) -> Value:
        """Return the reference to the value that an edge delivered at a path.

        The paths of the source run and the receiving run have their first `edge.keeps` numbers in
        common. The source of a `DO_WHILE` edge is in the previous round of the loop. For example,
        the value at `[2, 3]` comes from `[2, 2]`. The source of a `BREAK` edge is in the last
        round. For example, the value at `[2]` comes from `[2, 5]`.
        """
        source_path = path[: edge.keeps]
        if origin >= _BLOCKS:
            return CollectedList(origin - _BLOCKS, source_path, edge.target)
        if edge.kind is EdgeKind.DO_WHILE:
            source_path = (*source_path[:-1], source_path[-1] - 1)
        elif edge.kind is EdgeKind.BREAK:
            source_path = (*source_path, last_round)
        return Reference(Run(edge.source.vertex, source_path), edge.source.port)


def execution_unknown_error(execution: Address) -> NotFoundError:
    """Return the error for an execution that does not exist."""
    return NotFoundError(
        "execution_unknown",
        f"the execution {execution} does not exist",
        hint="The execution was cleaned up, or it is on another network. Run"
        " `nexus-tools workflow executions` to see your executions.",
    )
