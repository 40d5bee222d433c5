"""The inputs of a run, assembled from values that are stored in other on-chain objects."""

from collections.abc import Iterable, Mapping

from cachetools import LRUCache

from nexus_tools.contracts import Deployment, PackageClient
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.value import Value as JsonValue
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.registry.executions.input_read_bytes import load_order, plan_bytes, value_bytes
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.workflows.plan_encoding import default_ports, default_value
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import canonical_json
from nexus_tools.workflow import ERR_EVAL, CollectedList, GivenValue, Reference, Run, Value

_MAX_INVOCATIONS = 1_024
"""The size of the cache of closed invocations. An invocation often provides inputs of several runs.
"""


class RunInputResolver:
    """A resolver of references to values that caches closed invocations, which never change."""

    def __init__(self, client: SuiClient, deployment: Deployment) -> None:
        self._package = PackageClient(client, deployment)
        self._closed: LRUCache[Address, Invocation] = LRUCache(_MAX_INVOCATIONS)

    async def inputs(self, execution: Execution, workflow: PublishedWorkflow, run: Run) -> Ports:
        """Return the input ports of a run as the chain assembles them.

        The run must be ready, or must have been requested. Raises `value_unknown` for a value that
        no longer exists, and the errors of `SuiClient`.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = records.records.inputs(run)
        resolved = await self._resolve(records, workflow, values.values())
        return Ports(tuple((port, resolved[value]) for port, value in sorted(values.items())))

    async def sources(
        self, execution: Execution, workflow: PublishedWorkflow, run: Run
    ) -> tuple[Address, ...]:
        """Return the invocations whose outcomes are inputs of a run, in their loading order.

        Elements of lists are loaded from the last to the first. Raises the errors of `inputs`.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = tuple(records.records.inputs(run).values())
        _, lists = await _runs_behind(records, values)
        return load_order(records, values, lists)

    async def read_bytes(
        self, execution: Execution, workflow: PublishedWorkflow, run: Run, inputs: Ports
    ) -> int:
        """Return the bytes that the chain counts for assembling these inputs of a run.

        Raises the errors of `inputs`.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = tuple(records.records.inputs(run).values())
        runs, lists = await _runs_behind(records, values)
        invocations = await self._invocations(records, runs)
        states = {invocation.id: invocation.state for invocation in invocations.values()}
        entries = await records.entry_values([run.vertex])
        entry_ports = (*entries.values(), default_ports(workflow.document, run.vertex))
        return (
            value_bytes(records, states, values, lists)
            + plan_bytes(records, values, run)
            + sum(ports.size() for ports in entry_ports if ports.values)
            + inputs.size()
        )

    async def _resolve(
        self, records: ExecutionRecords, workflow: PublishedWorkflow, values: Iterable[Value]
    ) -> dict[Value, JsonValue.Variant]:
        """Return the values of references. Raises the errors of `inputs`."""
        unique = list(dict.fromkeys(values))
        runs, elements = await _runs_behind(records, unique)
        invocations = await self._invocations(records, runs)
        entry_inputs = [value for value in unique if isinstance(value, GivenValue)]
        entries = await records.entry_values(
            entry_input.target.vertex for entry_input in entry_inputs
        )
        defaults = {default.target: default for default in workflow.document.defaults}
        resolved: dict[Value, JsonValue.Variant] = {}
        for value in unique:
            match value:
                case GivenValue(target):
                    ports = dict(entries[target.vertex].values if target.vertex in entries else ())
                    if target.port in ports:
                        resolved[value] = ports[target.port]
                    elif target in defaults:
                        resolved[value] = default_value(defaults[target])
                    else:
                        raise NotFoundError("value_unknown", f"the input '{target}' has no value")
                case Reference():
                    resolved[value] = _output(records, invocations, value)
                case CollectedList():
                    resolved[value] = _list(records, invocations, value, elements[value])
        return resolved

    async def _invocations(
        self, records: ExecutionRecords, runs: Iterable[Run]
    ) -> dict[Run, Invocation]:
        ids = {run: records.invocations[run] for run in runs if run in records.invocations}
        unique = set(ids.values())
        # The cache may drop invocations while this call adds others.
        by_id = {key: self._closed[key] for key in unique if key in self._closed}
        missing = [invocation_id for invocation_id in unique if invocation_id not in by_id]
        objects = await self._package.find_all(missing, Invocation)
        for invocation_id, invocation in zip(missing, objects, strict=True):
            if invocation is None:
                raise NotFoundError("value_unknown", f"the invocation {invocation_id} was deleted")
            by_id[invocation_id] = invocation
            if invocation.is_closed:
                self._closed[invocation_id] = invocation
        return {run: by_id[invocation_id] for run, invocation_id in ids.items()}


async def _runs_behind(
    records: ExecutionRecords, values: Iterable[Value]
) -> tuple[list[Run], dict[CollectedList, tuple[Reference, ...]]]:
    """Return the runs whose invocations provide these values, and the elements of each list."""
    unique = list(dict.fromkeys(values))
    lists = [value for value in unique if isinstance(value, CollectedList)]
    elements = {collected: await records.elements(collected) for collected in lists}
    sources = [value.run for value in unique if isinstance(value, Reference)]
    sources += [element.run for references in elements.values() for element in references]
    await records.read_runs(sources)
    return [run for run in dict.fromkeys(sources) if run not in records.refusals], elements


def _outcome_of(
    records: ExecutionRecords, invocations: Mapping[Run, Invocation], run: Run
) -> tuple[str, dict[str, JsonValue.Variant]]:
    """Return the variant and the ports of a run's outcome. A failure also has ports."""
    if run in records.refusals:
        return ERR_EVAL, _failure_ports(records.refusals[run], "")
    if run not in invocations:
        raise _missing_error(run)
    match invocations[run].state:
        case State.Settled(variant, ports):
            return variant, dict(ports.values)
        case State.Failed(reason, detail):
            return ERR_EVAL, _failure_ports(reason, detail)
    return ERR_EVAL, _failure_ports("expired", "")


def _failure_ports(reason: str, detail: str) -> dict[str, JsonValue.Variant]:
    texts = {"reason": reason, "detail": detail}
    return {name: JsonValue.Inline(canonical_json(text)) for name, text in texts.items()}


def _missing_error(run: Run) -> NotFoundError:
    return NotFoundError("value_unknown", f"the outcome of '{run}' no longer exists")


def _output(
    records: ExecutionRecords, invocations: Mapping[Run, Invocation], value: Reference
) -> JsonValue.Variant:
    _, ports = _outcome_of(records, invocations, value.run)
    if value.port not in ports:
        raise _missing_error(value.run)
    output = ports[value.port]
    return output if value.element is None else _element(output, value)


def _element(collection: JsonValue.Variant, value: Reference) -> JsonValue.Variant:
    assert value.element is not None
    match collection:
        case JsonValue.InlineList(parts):
            texts = [text for part in parts for text in part]
            if value.element < len(texts):
                return JsonValue.Inline(texts[value.element])
        case JsonValue.RemoteList(storage, keys) if value.element < len(keys):
            return JsonValue.Remote(storage, keys[value.element])
    raise _missing_error(value.run)


def _list(
    records: ExecutionRecords,
    invocations: Mapping[Run, Invocation],
    value: CollectedList,
    elements: Iterable[Reference],
) -> JsonValue.Variant:
    """Return the list of collected values.

    Iterations that ended with another variant do not add an element. Either all elements are inline
    texts, or all elements are keys of one storage.
    """
    sources = {(edge.source.vertex, edge.source.variant) for edge in records.edges_to(value)}
    collected = [
        _output(records, invocations, element)
        for element in elements
        if (element.run.vertex, _outcome_of(records, invocations, element.run)[0]) in sources
    ]
    keys = [item for item in collected if isinstance(item, JsonValue.Remote)]
    if not keys:
        return JsonValue.InlineList((tuple(map(_text, collected)),))
    if len(keys) < len(collected) or len({item.storage for item in keys}) > 1:
        raise ValidationError(
            "remote_value_unavailable",
            f"the elements of the list for {value.target} must all be in one storage",
        )
    return JsonValue.RemoteList(keys[0].storage, tuple(item.key for item in keys))


def _text(value: JsonValue.Variant) -> bytes:
    """Return the JSON text of an on-chain value, as `value::json` returns it."""
    match value:
        case JsonValue.Inline(text):
            return text
        case JsonValue.InlineChunks(chunks):
            return b"".join(chunks)
        case JsonValue.InlineList(parts):
            return b"[" + b",".join(text for part in parts for text in part) + b"]"
    raise ValidationError(
        "remote_value_unavailable", "a list with off-chain elements cannot be an element of a list"
    )
