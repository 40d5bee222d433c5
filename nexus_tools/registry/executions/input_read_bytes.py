"""The work of putting the inputs of a run together on chain, as `inputs.move` counts it in bytes.

A leader is paid by these bytes, and an attempt has a limit for them.
"""

from collections.abc import Iterator, Mapping, Sequence

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Value as JsonValue
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Collected, Reference, Run, Value

# Source: `inputs.move`.
_PORT_BYTES, _PORT_PAIR_BYTES, _RECORD_BYTES = 300, 50, 1_000
_ITERATION_BYTES, _ELEMENT_BYTES, _JOINED_BYTES = 1_600, 300, 50
_UNIT_BYTES = 25

Lists = Mapping[Collected, tuple[Reference, ...]]


def loads_of(
    records: ExecutionRecords, values: Sequence[Value], lists: Lists
) -> tuple[Address, ...]:
    """The invocations in the order in which the chain takes values from them.

    The elements of lists are taken from the last one to the first. An invocation that has elements
    of several lists is there several times.
    """
    found: list[Address] = []
    for element in reversed(list(_elements(values, lists))):
        source = records.invocations.get(element.run)
        if source is not None and (not found or found[-1] != source):
            found.append(source)
    ports = (each.run for each in values if isinstance(each, Reference))
    sources = (records.invocations[run] for run in ports if run in records.invocations)
    return (*found, *(each for each in dict.fromkeys(sources) if each not in set(found)))


def counted_bytes(
    records: ExecutionRecords,
    states: Mapping[Address, State.Variant],
    values: Sequence[Value],
    lists: Lists,
) -> int:
    """The bytes that ports, records, lists and loaded outcomes count.

    `states` has the state of each invocation that is loaded.
    """
    ports = sum(_PORT_BYTES + _PORT_PAIR_BYTES * place for place in range(len(values)))
    references = sum(isinstance(each, Reference) for each in values)
    iterations = sum(records.iterations(each) for each in values if isinstance(each, Collected))
    elements = [
        (value, each) for value in values if isinstance(value, Collected) for each in lists[value]
    ]
    return (
        ports
        + _RECORD_BYTES * (references + len(elements))
        + _ITERATION_BYTES * iterations
        + sum(_joined(records, states, *each) for each in elements)
        + sum(_outcome_bytes(states[each]) for each in loads_of(records, values, lists))
    )


def plan_bytes(records: ExecutionRecords, values: Sequence[Value], run: Run) -> int:
    """The bytes that reading the workflow counts to put the inputs of a run together."""
    lists = [each for each in values if isinstance(each, Collected)]
    vertices = {run.vertex, *(each.run.vertex for each in values if isinstance(each, Reference))}
    vertices |= {edge.source.vertex for each in lists for edge in records.edges_to(each)}
    return _UNIT_BYTES * records.read_units(vertices, [each.block for each in lists])


def _elements(values: Sequence[Value], lists: Lists) -> Iterator[Reference]:
    """The elements of all lists, in the order in which the chain finds them."""
    for value in values:
        if isinstance(value, Collected):
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
    value: Collected,
    element: Reference,
) -> int:
    """What the text of an element counts, if it has to be put together."""
    source = records.invocations.get(element.run)
    state = states.get(source) if source is not None else None
    variants = {
        edge.source.variant
        for edge in records.edges_to(value)
        if edge.source.vertex == element.run.vertex
    }
    if not isinstance(state, State.Settled) or state.variant not in variants:
        return 0
    found = dict(state.ports.values).get(element.port)
    match found:
        case None | JsonValue.Inline():
            return 0
        case JsonValue.InlineList(parts):
            length = sum(map(len, parts))
        case JsonValue.RemoteList(_, keys):
            length = len(keys)
        case _:
            length = 0
    return _ELEMENT_BYTES * length + _JOINED_BYTES * len(JsonValue.bcs.encode(found))
