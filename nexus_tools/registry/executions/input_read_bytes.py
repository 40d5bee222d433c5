"""The work of assembling the inputs of a run on chain, counted in bytes as in `inputs.move`.

A leader's pay depends on this number of bytes, which is limited for each attempt.
"""

from collections.abc import Iterator, Mapping, Sequence

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Value as JsonValue
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import CollectedList, Reference, Run, Value

# Source: `inputs.move`.
_PORT_BYTES, _PORT_PAIR_BYTES, _RECORD_BYTES = 300, 50, 1_000
_ITERATION_BYTES, _ELEMENT_BYTES, _JOINED_BYTES = 1_600, 300, 50
_UNIT_BYTES = 25

ListElements = Mapping[CollectedList, tuple[Reference, ...]]


def load_order(
    records: ExecutionRecords, values: Sequence[Value], lists: ListElements
) -> tuple[Address, ...]:
    """Return the invocations in the order in which the chain reads values from them.

    Elements of lists are read from the last to the first. An invocation with elements of several
    lists occurs several times in the order.
    """
    order: list[Address] = []
    for element in reversed(list(_elements(values, lists))):
        source = records.invocations.get(element.run)
        if source is not None and (not order or order[-1] != source):
            order.append(source)
    ports = (value.run for value in values if isinstance(value, Reference))
    sources = (records.invocations[run] for run in ports if run in records.invocations)
    return (
        *order,
        *(invocation for invocation in dict.fromkeys(sources) if invocation not in set(order)),
    )


def value_bytes(
    records: ExecutionRecords,
    states: Mapping[Address, State.Variant],
    values: Sequence[Value],
    lists: ListElements,
) -> int:
    """Return the number of bytes that are counted for ports, records, lists and loaded outcomes.

    `states` contains the state of each loaded invocation.
    """
    ports = sum(_PORT_BYTES + _PORT_PAIR_BYTES * index for index in range(len(values)))
    references = sum(isinstance(value, Reference) for value in values)
    iterations = sum(
        records.iterations(value) for value in values if isinstance(value, CollectedList)
    )
    elements = [
        (value, element)
        for value in values
        if isinstance(value, CollectedList)
        for element in lists[value]
    ]
    return (
        ports
        + _RECORD_BYTES * (references + len(elements))
        + _ITERATION_BYTES * iterations
        + sum(_joined(records, states, *pair) for pair in elements)
        + sum(
            _outcome_bytes(states[invocation]) for invocation in load_order(records, values, lists)
        )
    )


def plan_bytes(records: ExecutionRecords, values: Sequence[Value], run: Run) -> int:
    """Return the bytes counted for reading the workflow to assemble the inputs of a run."""
    lists = [value for value in values if isinstance(value, CollectedList)]
    vertices = {run.vertex, *(value.run.vertex for value in values if isinstance(value, Reference))}
    vertices |= {edge.source.vertex for collected in lists for edge in records.edges_to(collected)}
    return _UNIT_BYTES * records.read_units(vertices, [collected.block for collected in lists])


def _elements(values: Sequence[Value], lists: ListElements) -> Iterator[Reference]:
    """Yield the elements of all lists, in the order of the lists."""
    for value in values:
        if isinstance(value, CollectedList):
            yield from lists[value]


def _outcome_bytes(state: State.Variant) -> int:
    match state:
        case State.Settled(variant, ports):
            return len(variant) + ports.size()
        case State.Failed(reason, detail):
            return len(reason) + len(detail.encode())
    return 0


def _joined(
    records: ExecutionRecords,
    states: Mapping[Address, State.Variant],
    value: CollectedList,
    element: Reference,
) -> int:
    """Return the bytes counted for joining the chunks of an element, or 0 for a single chunk."""
    source = records.invocations.get(element.run)
    state = states.get(source) if source is not None else None
    variants = {
        edge.source.variant
        for edge in records.edges_to(value)
        if edge.source.vertex == element.run.vertex
    }
    if not isinstance(state, State.Settled) or state.variant not in variants:
        return 0
    port_value = dict(state.ports.values).get(element.port)
    match port_value:
        case None | JsonValue.Inline():
            return 0
        case JsonValue.InlineList(parts):
            length = sum(map(len, parts))
        case JsonValue.RemoteList(_, keys):
            length = len(keys)
        case _:
            length = 0
    return _ELEMENT_BYTES * length + _JOINED_BYTES * len(JsonValue.bcs.encode(port_value))
