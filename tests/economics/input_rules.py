"""The bytes that the chain counts to assemble the inputs of a run."""

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.registry.executions.input_read_bytes import value_bytes
from nexus_tools.registry.workflows.plan_encoding import default_ports
from nexus_tools.workflow import ERR_EVAL, CollectedList, Reference, Run, RunPhase


class _Lists:
    """The part of the records on chain that `value_bytes` reads."""

    def __init__(self, rules):
        self.invocations, self._records = rules.invocations, rules.semantics.records

    def iterations(self, value):
        brought = self._records.instances[value.block, value.path].brought.values()
        return max((item.length for item in brought), default=0)

    def edges_to(self, value):
        return self._records.edges_to(value.block, value.target)


class InputRules:
    """The inputs of the runs of a `RuledExecution`."""

    def __init__(self, rules):
        self.rules, self.semantics = rules, rules.semantics

    def read_bytes(self, run):
        """Return the bytes that the chain counts for the inputs of a run."""
        rules = self.rules
        found = self.semantics.inputs(run)
        values = tuple(found.values())
        lists = {
            value: self._elements(value) for value in values if isinstance(value, CollectedList)
        }
        counted = value_bytes(_Lists(rules), rules.states, values, lists)
        whole = sum(ports.size() for ports in self._given(run) if ports.values)
        return counted + whole + self._inputs(run, found).size()

    def _given(self, run):
        rules = self.rules
        return ports_of(rules.values.get(run.vertex, {})), default_ports(rules.document, run.vertex)

    def _elements(self, value):
        """Return the runs that may have added an element; with one edge, in any variant."""
        records = self.semantics.records
        edges = records.edges_to(value.block, value.target)
        if len(edges) > 1:
            return self.semantics.collected(value)
        [edge], paths = edges, range(_Lists(self.rules).iterations(value))
        found = [Run(edge.source.vertex, (*value.path, path)) for path in paths]
        closed = (item for item in found if item in records.runs)
        return tuple(
            Reference(item, edge.source.port)
            for item in closed
            if records.runs[item].phase is RunPhase.CLOSED
        )

    def _inputs(self, run, values):
        given, default = (dict(ports.values) for ports in self._given(run))
        given = default | given
        found = {}
        for port, value in values.items():
            if isinstance(value, Reference):
                found[port] = self._output(value)
            elif isinstance(value, CollectedList):
                found[port] = self._list(value)
            else:
                found[port] = given[port]
        return Ports(tuple(sorted(found.items())))

    def _outcome(self, run):
        """Return the variant that a run ended in, and its ports."""
        state = self.rules.states.get(self.rules.invocations.get(run))
        if isinstance(state, State.Settled):
            return state.variant, dict(state.ports.values)
        reason, detail = "expired", ""
        if isinstance(state, State.Failed):
            reason, detail = state.reason, state.detail
        return ERR_EVAL, dict(ports_of({"reason": reason, "detail": detail}).values)

    def _output(self, reference):
        _, ports = self._outcome(reference.run)
        if reference.element is None:
            return ports[reference.port]
        texts = [text for part in ports[reference.port].pos0 for text in part]
        return Value.Inline(texts[reference.element])

    def _list(self, value):
        edges = self.semantics.records.edges_to(value.block, value.target)
        sources = {(edge.source.vertex, edge.source.variant) for edge in edges}
        brought = [
            self._output(item)
            for item in self.semantics.collected(value)
            if (item.run.vertex, self._outcome(item.run)[0]) in sources
        ]
        return Value.InlineList((tuple(map(_text, brought)),))


def _text(value):
    if isinstance(value, Value.InlineList):
        return b"[" + b",".join(text for part in value.pos0 for text in part) + b"]"
    return value.pos0 if isinstance(value, Value.Inline) else b"".join(value.pos0)
