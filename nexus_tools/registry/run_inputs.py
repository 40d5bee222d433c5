"""What the tool of a run is given: references are followed to where the values are.

It is what `inputs.move` does on chain. A value is in the closed invocation of the run that it comes
from, or was given with the execution, or is a default value of the document. What a region gathered
is what its iterations brought, in their order.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nexus_tools.bindings.runtime import MoveStruct
from nexus_tools.errors import NotFoundError
from nexus_tools.package import PackageClient
from nexus_tools.package.move.execution import EntryKey, Execution
from nexus_tools.package.move.invocation import Invocation, State
from nexus_tools.package.move.records import (
    Gathered,
    Instance,
    InstanceRecord,
    Mark,
    Run,
    RunRecord,
)
from nexus_tools.package.move.value import Ports, Value
from nexus_tools.registry.plan_encoding import BLOCKS
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import dynamic_field_id
from nexus_tools.sui.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import EdgeKind, InputPort, PlannedEdge
from nexus_tools.workflow.document import ERR_EVAL

Path = tuple[int, ...]

_Output = tuple[str, Mapping[str, Value.Variant]]
_CLOSED = 3


@dataclass(frozen=True, slots=True)
class _Reference:
    """A port of what a run came to, or one element of it."""

    run: Run
    edge: PlannedEdge
    element: int | None = None


@dataclass(frozen=True, slots=True)
class _List:
    """What a region gathered for a port."""

    region: Instance
    target: InputPort


class RunInputsReader(PackageClient):
    """Reads the inputs of runs. Every method raises as `SuiClient` does."""

    async def inputs(
        self, execution: Execution, workflow: PublishedWorkflow, run: Run
    ) -> dict[str, Any]:
        """The ports of a run that is ready, or was, in JSON; those for order alone are left out.

        Raises `value_unknown` for what is not there any more, `value_remote`.
        """
        return await _Resolver(self, execution, workflow).inputs(run)


class _Resolver:
    """The inputs of one run; what is read is read many at once."""

    def __init__(
        self, package: PackageClient, execution: Execution, workflow: PublishedWorkflow
    ) -> None:
        self._package = package
        self._execution = execution
        self._workflow = workflow
        self._plan = workflow.plan
        self._names = tuple(workflow.plan.vertices)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._edges = {
            edge.number: edge
            for vertex in workflow.plan.vertices.values()
            for edges in vertex.into.values()
            for edge in edges
        }

    async def inputs(self, run: Run) -> dict[str, Any]:
        name = self._names[run.vertex]
        vertex = self._plan.vertices[name]
        (record,) = await self._records([run])
        instances = [
            Instance(block, tuple(run.path[:depth])) for depth, block in enumerate(vertex.blocks)
        ]
        around = await self._instances(instances)
        ports = [port for port in vertex.into if not InputPort(name, port).is_order_only]
        places = list(vertex.into)
        sources = {
            port: self._source(run, places.index(port), record, instances, around) for port in ports
        }
        given = [port for port, source in sources.items() if source is None]
        found = await self._given(run.vertex, given) if given else {}
        lists = {port: each for port, each in sources.items() if isinstance(each, _List)}
        members = {port: await self._members(each) for port, each in lists.items()}
        singles = {port: each for port, each in sources.items() if isinstance(each, _Reference)}
        wanted = [*singles.values(), *(each for group in members.values() for each in group)]
        outputs = await self._outputs(wanted)
        for port, reference in singles.items():
            found[port] = self._single(port, reference, outputs[reference.run])
        for port, group in members.items():
            found[port] = [
                _json(port, ports_of_run[each.edge.source.port])
                for each in group
                for variant, ports_of_run in (outputs[each.run],)
                if variant == each.edge.source.variant
            ]
        return {port: found[port] for port in ports}

    # --- Where values are

    def _source(
        self,
        run: Run,
        port: int,
        record: RunRecord | None,
        instances: Sequence[Instance],
        around: Sequence[InstanceRecord | None],
    ) -> _Reference | _List | None:
        for each in record.deliveries if record else ():
            if each.port == port:
                return self._origin(each.origin, each.edge, each.round, run.path, None)
        source: _Reference | _List | None = None
        # What is not static goes before what is.
        for key, instance in reversed(list(zip(instances, around, strict=True))):
            for value in instance.brought if instance else ():
                is_mine = (value.vertex, value.port) == (run.vertex, port)
                serves = value.is_static or not any(
                    run.path[at] for at in value.rounds if at < len(run.path)
                )
                if is_mine and serves and (not value.is_static or source is None):
                    element = None if value.element is None else run.path[value.element]
                    source = self._origin(value.origin, value.edge, value.round, key.path, element)
        return source

    def _origin(
        self, origin: int, number: int, round_: int, place: Sequence[int], element: int | None
    ) -> _Reference | _List:
        edge = self._edges[number]
        if origin >= BLOCKS:
            region = origin - BLOCKS
            depth = self._plan.blocks[region].depth
            return _List(Instance(region, tuple(place[:depth])), edge.target)
        path = tuple(place[: edge.keeps])
        if edge.kind is EdgeKind.DO_WHILE:
            path = (*path[:-1], path[-1] - 1)
        elif edge.kind is EdgeKind.BREAK:
            path = (*path, round_)
        return _Reference(Run(origin, path), edge, element)

    async def _members(self, wanted: _List) -> list[_Reference]:
        """What each iteration may have for the list."""
        (instance,) = await self._instances([wanted.region])
        count = max((each.length for each in instance.brought), default=0) if instance else 0
        edges = [
            edge
            for edge in self._plan.vertices[wanted.target.vertex].into[wanted.target.port]
            if edge.left == wanted.region.block
        ]
        chosen: dict[int, PlannedEdge] = dict.fromkeys(range(count), edges[0])
        if len(edges) > 1:
            chosen = await self._chosen(wanted, count)
        references = [
            _Reference(self._iteration(edge, wanted.region.path, iteration), edge)
            for iteration, edge in chosen.items()
        ]
        records = await self._records([each.run for each in references])
        return [
            each
            for each, record in zip(references, records, strict=True)
            if record is not None and record.phase == _CLOSED
        ]

    async def _chosen(self, wanted: _List, count: int) -> dict[int, PlannedEdge]:
        """The edge that each iteration followed, where it could follow several."""
        vertex = self._numbers[wanted.target.vertex]
        port = list(self._plan.vertices[wanted.target.vertex].into).index(wanted.target.port)
        region = wanted.region
        marks = [Mark(region.block, region.path, vertex, port, each) for each in range(count)]
        found = await self._fields(marks, Gathered)
        return {
            iteration: self._edges[each.edge]
            for iteration, each in enumerate(found)
            if each is not None
        }

    def _iteration(self, edge: PlannedEdge, outside: Path, iteration: int) -> Run:
        depth = len(self._plan.vertices[edge.source.vertex].blocks)
        path = (*outside, iteration)
        return Run(self._numbers[edge.source.vertex], path + (0,) * (depth - len(path)))

    # --- Reading

    async def _records(self, runs: Sequence[Run]) -> list[RunRecord | None]:
        return await self._fields(runs, RunRecord)

    async def _instances(self, instances: Sequence[Instance]) -> list[InstanceRecord | None]:
        return await self._fields(instances, InstanceRecord)

    async def _fields(self, keys: Sequence[MoveStruct], kind: type[MoveStruct]) -> list[Any]:
        if not keys:
            return []
        return await self._fields_of(self._execution.walks.records.id, keys, kind)

    async def _fields_of(
        self, parent: Address, keys: Sequence[MoveStruct], kind: type[MoveStruct]
    ) -> list[Any]:
        """The values under keys of one type; None for those that do not exist."""
        deployment = self._package.deployment
        key_type = deployment.type_of(type(keys[0]))
        encoded = TYPE_TAG.encode(key_type)
        codecs: Any = keys
        ids = [dynamic_field_id(parent, encoded, key.bcs.encode(key)) for key in codecs]
        tag = field_tag(key_type, deployment.type_of(kind))
        return [
            None if value is None else deployment.decode_entry(value, tag)
            for value in await self._package.client.objects(ids)
        ]

    async def _given(self, vertex: int, ports: Iterable[str]) -> dict[str, Any]:
        """Entry values, and default values of the document."""
        (entries,) = await self._fields_of(self._execution.id, [EntryKey(vertex)], Ports)
        given: Mapping[str, Value.Variant] = dict(entries.values) if entries else {}
        name = self._names[vertex]
        defaults = {
            each.target.port: each.data
            for each in self._workflow.document.defaults
            if each.target.vertex == name
        }
        found = {}
        for port in ports:
            if port in given:
                found[port] = _json(port, given[port])
            elif port in defaults:
                found[port] = defaults[port]
            else:
                raise NotFoundError("value_unknown", f"the port {port} was given no value")
        return found

    async def _outputs(self, references: Sequence[_Reference]) -> dict[Run, _Output]:
        """The variant and the ports of what runs came to."""
        runs = list(dict.fromkeys(each.run for each in references))
        records = await self._records(runs)
        ids = [record.invocation for record in records if record and not record.refusal]
        values = await self._package.client.objects(ids) if ids else ()
        decode = self._package.deployment.decode
        states = {
            value.id: decode(value, Invocation).state for value in values if value is not None
        }
        found = {}
        for run, record in zip(runs, records, strict=True):
            if record is None or not (record.refusal or record.invocation in states):
                raise self._gone(run)
            state = None if record.refusal else states[record.invocation]
            found[run] = _came_to(state, record.refusal)
        return found

    def _single(self, port: str, reference: _Reference, output: _Output) -> Any:
        name = reference.edge.source.port
        if name not in output[1]:
            raise self._gone(reference.run)
        value = _json(port, output[1][name])
        if reference.element is None:
            return value
        if not isinstance(value, list) or reference.element >= len(value):
            raise self._gone(reference.run)
        return value[reference.element]

    def _gone(self, run: Run) -> NotFoundError:
        name = self._names[run.vertex]
        return NotFoundError("value_unknown", f"what '{name}' came to is not there any more")


def _came_to(state: object, refusal: str) -> _Output:
    """The variant and the ports of an invocation, or of a run that was not invoked."""
    if isinstance(state, State.Settled):
        # An answer that lacks a port may have been taken as a failure.
        return state.variant, _error("port_missing", "") | dict(state.ports.values)
    if isinstance(state, State.Failed):
        return ERR_EVAL, _error(state.reason, state.detail)
    return ERR_EVAL, _error(refusal or "expired", "")


def _error(reason: str, detail: str) -> dict[str, Value.Variant]:
    texts = {"reason": reason, "detail": detail}
    return {port: Value.Inline(json.dumps(text).encode()) for port, text in texts.items()}


def _json(port: str, value: Value.Variant) -> Any:
    return Ports(((port, value),)).as_json()[port]
