"""What the tool of a run is given: values that are elsewhere on chain, put together."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from nexus_tools.contracts import Deployment, PackageClient
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.value import Value as JsonValue
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.registry.executions.input_read_bytes import counted_bytes, loads_of, plan_bytes
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.workflows.plan_encoding import default_ports, default_value
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import canonical_json
from nexus_tools.workflow import ERR_EVAL, Collected, Given, Reference, Run, Value

_MAX_INVOCATIONS = 1_024
"""How many closed invocations are kept: the same one often feeds several runs."""


class RunResolver:
    """Follows references. Closed invocations, which never change, are read once."""

    def __init__(self, client: SuiClient, deployment: Deployment) -> None:
        self._package = PackageClient(client, deployment)
        self._closed: OrderedDict[Address, Invocation] = OrderedDict()

    async def inputs(self, execution: Execution, workflow: PublishedWorkflow, run: Run) -> Ports:
        """The ports of a run that is ready, or was, as the chain puts them together.

        Raises `value_unknown` for what is not there any more, and as `SuiClient` does.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = records.records.inputs(run)
        found = await self._resolved(records, workflow, values.values())
        return Ports(tuple((port, found[value]) for port, value in sorted(values.items())))

    async def sources(
        self, execution: Execution, workflow: PublishedWorkflow, run: Run
    ) -> tuple[Address, ...]:
        """The invocations whose outcomes are inputs of a run, in the order to load them on chain.

        The elements of lists come from the last one to the first. Raises as `inputs` does.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = tuple(records.records.inputs(run).values())
        _, lists = await _runs_behind(records, values)
        return loads_of(records, values, lists)

    async def read_bytes(
        self, execution: Execution, workflow: PublishedWorkflow, run: Run, inputs: Ports
    ) -> int:
        """The bytes that the chain counts to put these inputs of a run together.

        Raises as `inputs` does.
        """
        records = ExecutionRecords(self._package, execution, workflow)
        await records.read_around(run)
        values = tuple(records.records.inputs(run).values())
        runs, lists = await _runs_behind(records, values)
        found = await self._invocations(records, runs)
        states = {invocation.id: invocation.state for invocation in found.values()}
        entries = await records.entry_values([run.vertex])
        given = (*entries.values(), default_ports(workflow.document, run.vertex))
        return (
            counted_bytes(records, states, values, lists)
            + plan_bytes(records, values, run)
            + sum(ports.size() for ports in given if ports.values)
            + inputs.size()
        )

    async def _resolved(
        self, records: ExecutionRecords, workflow: PublishedWorkflow, values: Iterable[Value]
    ) -> dict[Value, JsonValue.Variant]:
        """The values of references. Raises as `inputs` does."""
        wanted = list(dict.fromkeys(values))
        runs, elements = await _runs_behind(records, wanted)
        invocations = await self._invocations(records, runs)
        given = [each for each in wanted if isinstance(each, Given)]
        entries = await records.entry_values(each.target.vertex for each in given)
        defaults = {each.target: each for each in workflow.document.defaults}
        found: dict[Value, JsonValue.Variant] = {}
        for value in wanted:
            match value:
                case Given(target):
                    ports = dict(entries[target.vertex].values if target.vertex in entries else ())
                    if target.port in ports:
                        found[value] = ports[target.port]
                    elif target in defaults:
                        found[value] = default_value(defaults[target])
                    else:
                        raise NotFoundError("value_unknown", f"'{target}' was given no value")
                case Reference():
                    found[value] = _output(records, invocations, value)
                case Collected():
                    found[value] = _list(records, invocations, value, elements[value])
        return found

    async def _invocations(
        self, records: ExecutionRecords, runs: Iterable[Run]
    ) -> dict[Run, Invocation]:
        ids = {run: records.invocations[run] for run in runs if run in records.invocations}
        missing = [each for each in dict.fromkeys(ids.values()) if each not in self._closed]
        read = await self._package.find_all(missing, Invocation)
        found = dict(zip(missing, read, strict=True))
        for place, invocation in found.items():
            if invocation is None:
                raise NotFoundError("value_unknown", f"the invocation {place} is deleted")
            if invocation.is_closed:
                self._closed[place] = invocation
        known = {
            run: self._closed[place] if place in self._closed else found[place]
            for run, place in ids.items()
        }
        while len(self._closed) > _MAX_INVOCATIONS:
            self._closed.popitem(last=False)
        return {run: each for run, each in known.items() if each is not None}


async def _runs_behind(
    records: ExecutionRecords, values: Iterable[Value]
) -> tuple[list[Run], dict[Collected, tuple[Reference, ...]]]:
    """The runs to which values refer, those that were invoked, and the elements of lists."""
    wanted = list(dict.fromkeys(values))
    lists = [each for each in wanted if isinstance(each, Collected)]
    elements = {each: await records.elements(each) for each in lists}
    sources = [each.run for each in wanted if isinstance(each, Reference)]
    sources += [element.run for each in elements.values() for element in each]
    await records.read_runs(sources)
    return [each for each in dict.fromkeys(sources) if each not in records.refusals], elements


def _came_to(
    records: ExecutionRecords, invocations: Mapping[Run, Invocation], run: Run
) -> tuple[str, dict[str, JsonValue.Variant]]:
    """The variant that a run ended in, and its ports, with those of a failure."""
    if run in records.refusals:
        return ERR_EVAL, _error(records.refusals[run], "")
    if run not in invocations:
        raise _gone(run)
    match invocations[run].state:
        case State.Settled(variant, ports):
            return variant, dict(ports.values)
        case State.Failed(reason, detail):
            return ERR_EVAL, _error(reason, detail)
    return ERR_EVAL, _error("expired", "")


def _error(reason: str, detail: str) -> dict[str, JsonValue.Variant]:
    texts = {"reason": reason, "detail": detail}
    return {name: JsonValue.Inline(canonical_json(text)) for name, text in texts.items()}


def _gone(run: Run) -> NotFoundError:
    return NotFoundError("value_unknown", f"what '{run}' came to is not there any more")


def _output(
    records: ExecutionRecords, invocations: Mapping[Run, Invocation], value: Reference
) -> JsonValue.Variant:
    _, ports = _came_to(records, invocations, value.run)
    if value.port not in ports:
        raise _gone(value.run)
    found = ports[value.port]
    return found if value.element is None else _element(found, value)


def _element(of: JsonValue.Variant, value: Reference) -> JsonValue.Variant:
    assert value.element is not None
    match of:
        case JsonValue.InlineList(parts):
            texts = [text for part in parts for text in part]
            if value.element < len(texts):
                return JsonValue.Inline(texts[value.element])
        case JsonValue.RemoteList(storage, keys) if value.element < len(keys):
            return JsonValue.Remote(storage, keys[value.element])
    raise _gone(value.run)


def _list(
    records: ExecutionRecords,
    invocations: Mapping[Run, Invocation],
    value: Collected,
    elements: Iterable[Reference],
) -> JsonValue.Variant:
    """What the iterations brought; those that ended in another variant brought nothing.

    A list is of one kind: of texts, or of keys of one storage.
    """
    sources = {(edge.source.vertex, edge.source.variant) for edge in records.edges_to(value)}
    brought = [
        _output(records, invocations, each)
        for each in elements
        if (each.run.vertex, _came_to(records, invocations, each.run)[0]) in sources
    ]
    keys = [each for each in brought if isinstance(each, JsonValue.Remote)]
    if not keys:
        return JsonValue.InlineList((tuple(map(_text, brought)),))
    if len(keys) < len(brought) or len({each.storage for each in keys}) > 1:
        raise ValidationError(
            "value_remote", f"the list for {value.target} is kept in several places"
        )
    return JsonValue.RemoteList(keys[0].storage, tuple(each.key for each in keys))


def _text(value: JsonValue.Variant) -> bytes:
    """The JSON text of a value on chain, as `value::json` gives it."""
    match value:
        case JsonValue.Inline(text):
            return text
        case JsonValue.InlineChunks(chunks):
            return b"".join(chunks)
        case JsonValue.InlineList(parts):
            return b"[" + b",".join(text for part in parts for text in part) + b"]"
    raise ValidationError("value_remote", "a list of keys has no text, and stands in a list")
