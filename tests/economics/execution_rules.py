"""The rules of an execution as pure arithmetic: what a leader is paid for each transaction.

It takes the same calls as an execution on chain that `CarriedExecution` carries.
"""

from collections import Counter
from dataclasses import dataclass

from nexus_tools.package import ports_of
from nexus_tools.package.move.state import State
from nexus_tools.package.move.value import Ports, Value
from nexus_tools.registry import Foresight, closed_with
from nexus_tools.registry.plan_encoding import default_ports
from nexus_tools.registry.read_bytes import counted_bytes
from nexus_tools.registry.step_commands import MAX_ITERATIONS, Gather, RequestIterations, RequestRun
from nexus_tools.sui.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    ERR_EVAL,
    Begun,
    Closed,
    Collected,
    Failed,
    Reference,
    Requested,
    Run,
    RunPhase,
    Status,
)
from tests.economics.counted_execution import REQUEST, CountedExecution

NOBODY = Address(bytes(32))
BYTE_MIST, INPUT_BYTE_MIST = 7_600, 100
MAX_READ_BYTES = 3 * 65_536
INVOCATION_BYTES = {False: 476, True: 511}
"""What Sui counts for an invocation of a tool of these tests, which signs or does not."""
EFFORT_GAS = {0: 35, 2_000: 45, 3_200: 120, 5_000: 250, 8_000: 550, 12_000: 3_000}


@dataclass(frozen=True)
class Fees:
    """What leaders are paid at a gas price, in MIST, by the settings of a new registry."""

    gas_price: int = 1_000

    def failing_mist(self, kept_bytes=0):
        """For failing an attempt, of whose detail so much is kept."""
        return 2_000 * self.gas_price + 670_000 + kept_bytes * BYTE_MIST

    def settling_mist(self, outcome_bytes, read_bytes=0):
        """For settling it."""
        read_mist = read_bytes * 40 * self.gas_price // 1_000
        return self.failing_mist(outcome_bytes) + 1_000_000 + read_mist

    def refusing_mist(self):
        """For finding a run to be refused."""
        return 1_000 * self.gas_price + 670_000

    def worked_mist(self, effort):
        """For the effort of a step."""
        return hundredths_of(effort) * self.gas_price // 100

    def rewritten_mist(self, outcome_bytes):
        """For rewriting an outcome by `advance`."""
        more = max(0, outcome_bytes - 1_000)
        return more * INPUT_BYTE_MIST + more * 25 * self.gas_price // 1_000


def hundredths_of(effort):
    """What an effort takes, in hundredths of gas units."""
    return sum(price * max(0, effort - bound) for bound, price in EFFORT_GAS.items())


def worked_units(effort):
    """The same in gas units."""
    return hundredths_of(effort) / 100


@dataclass
class Paid:
    """What one transaction paid its sender, and of what the price of its gas is made."""

    fees_mist: int = 0
    stored_mist: int = 0
    effort: int = 0
    read_bytes: int = 0
    outcome_bytes: int = 0
    rewritten_bytes: int = 0
    refusals: int = 0
    closing: str = ""
    """`settled` or `failed`, if it closes a run."""

    @property
    def is_closing(self):
        """Whether it closes a run."""
        return bool(self.closing)

    @property
    def mist(self):
        """All of it."""
        return self.fees_mist + self.stored_mist


class _Lists:
    """What `counted_bytes` asks of the records on chain."""

    def __init__(self, rules):
        self.invocations, self._records = rules.invocations, rules.semantics.records

    def iterations(self, value):
        brought = self._records.instances[value.block, value.path].brought.values()
        return max((each.length for each in brought), default=0)

    def edges_to(self, value):
        return self._records.edges_to(value.block, value.target)


class RuledExecution:
    """One execution by the rules; `paid` has what each transaction of the worker brought it."""

    def __init__(self, document, plan, signing, fees):
        self.document, self.plan = document, plan
        self.signing, self.fees = signing, fees
        self.semantics = CountedExecution(plan)
        self.requests, self.invocations, self.states = {}, {}, {}
        self.paid, self.number_of_requests = [], 0
        self.steps_taken, self.closings = 0, Counter()
        self.is_timeout_raised = False

    def begin(self, values, *, max_steps=1_000):
        """Begin it with entry values by vertex and port."""
        self.values, self.max_steps = values, max_steps
        self.semantics.apply(Begun(DEFAULT_GROUP))
        self.semantics.take_counts()
        foresight = Foresight(self.plan)
        foresight.begun(DEFAULT_GROUP)
        self.steps = foresight.steps()

    def take(self, steps=None):
        """Take steps as the worker."""
        self._take(self.steps if steps is None else steps, self._transaction())

    def close(self, run, answer, *, goes_on=True):
        """Close a run with an answer, or a failure, and go on; return the outcome."""
        paid, foresight = self._transaction(), Foresight(self.plan)
        self.closings[run] += 1
        invocation, attempt = self.requests.pop(run)
        answer = self._outcome(run, answer, paid)
        outcome = closed_with(answer)
        self._settle(run, invocation, answer, paid)
        size = paid.outcome_bytes
        paid = paid if goes_on else self._transaction()
        paid.rewritten_bytes = size
        self._advance(run, outcome, paid)
        foresight.closed(run, attempt, outcome)
        self.steps = foresight.steps() if goes_on else ()
        self._take(self.steps, paid)
        return answer

    def advance_expired(self, run):
        """Go on with a run that nobody closed in time."""
        paid = self._transaction()
        invocation, _ = self.requests.pop(run)
        self.states[invocation] = State.Expired()
        self._advance(run, Failed("expired"), paid)

    def stop(self, status):
        """End it early: its owner cancels, or its time is over."""
        self.semantics.end_early(status)

    def raise_timeouts(self):
        """Let the owner of the tools raise their timeouts beyond what the execution allows."""
        self.is_timeout_raised = True

    def expire_all(self):
        """Let the time of all that is under way pass."""

    # --- What is to be done

    def due(self):
        """The steps that can be taken now."""
        ready, iterations = [], {}
        for run in self.semantics.ready():
            found = self.semantics.records.cursor_of(run)
            if run in self.semantics.records.runs:
                ready.append(RequestRun(run))
            elif found is not None:
                key = run.vertex, found[0][1]
                iterations[key] = iterations.get(key, 0) + 1
        ready += [RequestIterations(*key, count) for key, count in iterations.items()]
        return (*ready, *(Gather(*each) for each in self.semantics.waiting_regions))

    # --- A transaction

    def _transaction(self):
        self.paid.append(Paid())
        return self.paid[-1]

    def _outcome(self, run, answer, paid):
        if isinstance(answer, Answer) and self.signing(run.vertex):
            paid.read_bytes = self.read_bytes(run)
            if paid.read_bytes > MAX_READ_BYTES:
                return Failure(FailureReason.INPUT_INVALID, "the inputs are too large")
        return answer

    def _settle(self, run, invocation, answer, paid):
        if isinstance(answer, Answer):
            ports = ports_of(answer.ports)
            self.states[invocation] = State.Settled(answer.variant, ports, NOBODY, 0)
            paid.outcome_bytes = len(answer.variant) + ports.size()
            paid.fees_mist += self.fees.settling_mist(paid.outcome_bytes, paid.read_bytes)
            paid.closing = "settled"
            return
        is_kept = ERR_EVAL in self.plan.vertices[run.vertex].variants
        detail = answer.detail if is_kept else ""
        self.states[invocation] = State.Failed(answer.reason.value, detail, NOBODY, 0)
        paid.read_bytes, paid.closing = 0, "failed"
        paid.outcome_bytes = len(answer.reason.value) + len(detail)
        paid.fees_mist += self.fees.failing_mist(len(detail))

    def _advance(self, run, outcome, paid):
        self.semantics.apply(Closed(run, outcome))
        paid.fees_mist += self.fees.rewritten_mist(paid.rewritten_bytes)
        self._pay_worked(paid)

    def _pay_worked(self, paid, more_bytes=0, effort=0):
        written, worked = self.semantics.take_counts()
        paid.effort += effort + worked
        paid.fees_mist += self.fees.worked_mist(effort + worked)
        paid.stored_mist += (written + more_bytes) * BYTE_MIST

    def _take(self, steps, paid):
        for step in steps:
            match step:
                case RequestRun(run):
                    self._request([run] if self._is_ready(run) else [], paid)
                case RequestIterations(vertex, path, limit):
                    self._request(self._iterations(vertex, path, limit), paid)
                case Gather(block, path):
                    if self.semantics.gather(block, path):
                        self._pay_worked(paid)

    def _is_ready(self, run):
        record = self.semantics.records.runs.get(run)
        return not self.semantics.is_ending and record and record.phase is RunPhase.READY

    def _iterations(self, vertex, path, limit):
        block = self.plan.vertices[vertex].region
        instance = self.semantics.records.instances.get((block, path))
        if self.semantics.is_ending or instance is None or vertex not in instance.cursors:
            return []
        cursor = instance.cursors[vertex]
        left = max(1, self.max_steps - self.steps_taken)
        count = min(cursor.end - cursor.next, limit, MAX_ITERATIONS, left)
        first = cursor.next
        return [self.semantics.records.iteration(vertex, path, first + i) for i in range(count)]

    def _request(self, runs, paid):
        if not runs:
            return
        bytes_written = 0
        for run in runs:
            self.semantics.apply(Requested(run))
        for run in runs:
            self.steps_taken += 1
            reason = self._refusal()
            if reason is not None:
                bytes_written += self._refuse(run, reason, paid)
                continue
            self.number_of_requests += 1
            invocation = self.number_of_requests
            self.invocations[run] = invocation
            self.requests[run] = invocation, self.semantics.attempt(run)
            bytes_written += INVOCATION_BYTES[self.signing(run.vertex)] + 4 * len(run.path)
        self._pay_worked(paid, bytes_written, REQUEST * len(runs))

    def _refusal(self):
        if self.steps_taken > self.max_steps:
            return "too_many_steps"
        return "timeout_too_long" if self.is_timeout_raised else None

    def _refuse(self, run, reason, paid):
        paid.fees_mist += self.fees.refusing_mist()
        paid.refusals += 1
        self.semantics.apply(Closed(run, Failed(reason, is_refusal=True)))
        if self.steps_taken > self.max_steps:
            self.stop(Status.TERMINATED)
        return len(reason)

    # --- What is read

    def read_bytes(self, run):
        """The bytes that the chain counts to put the inputs of a run together."""
        semantics = self.semantics
        found = semantics.inputs(run)
        values = tuple(found.values())
        lists = {each: self._elements(each) for each in values if isinstance(each, Collected)}
        given = ports_of(self.values.get(run.vertex, {})), default_ports(self.document, run.vertex)
        counted = counted_bytes(_Lists(self), self.states, values, lists)
        whole = sum(ports.size() for ports in given if ports.values)
        return counted + whole + self._inputs(run, found).size()

    def _elements(self, value):
        """The runs that may have brought an element: with one edge, whatever they came to."""
        records = self.semantics.records
        edges = records.edges_to(value.block, value.target)
        if len(edges) > 1:
            return self.semantics.collected(value)
        [edge], paths = edges, range(_Lists(self).iterations(value))
        found = [Run(edge.source.vertex, (*value.path, each)) for each in paths]
        closed = (each for each in found if each in records.runs)
        return tuple(
            Reference(each, edge.source.port)
            for each in closed
            if records.runs[each].phase is RunPhase.CLOSED
        )

    def _inputs(self, run, values):
        given = dict(ports_of(self.values.get(run.vertex, {})).values)
        given = dict(default_ports(self.document, run.vertex).values) | given
        found = {}
        for port, value in values.items():
            if isinstance(value, Reference):
                found[port] = self._output(value)
            elif isinstance(value, Collected):
                found[port] = self._list(value)
            else:
                found[port] = given[port]
        return Ports(tuple(sorted(found.items())))

    def _came_to(self, run):
        """The variant that a run ended in, and its ports."""
        state = self.states.get(self.invocations.get(run))
        if isinstance(state, State.Settled):
            return state.variant, dict(state.ports.values)
        reason, detail = "expired", ""
        if isinstance(state, State.Failed):
            reason, detail = state.reason, state.detail
        return ERR_EVAL, dict(ports_of({"reason": reason, "detail": detail}).values)

    def _output(self, reference):
        _, ports = self._came_to(reference.run)
        if reference.element is None:
            return ports[reference.port]
        texts = [text for part in ports[reference.port].pos0 for text in part]
        return Value.Inline(texts[reference.element])

    def _list(self, value):
        edges = self.semantics.records.edges_to(value.block, value.target)
        sources = {(edge.source.vertex, edge.source.variant) for edge in edges}
        brought = [
            self._output(each)
            for each in self.semantics.collected(value)
            if (each.run.vertex, self._came_to(each.run)[0]) in sources
        ]
        return Value.InlineList((tuple(map(_text, brought)),))


def _text(value):
    if isinstance(value, Value.InlineList):
        return b"[" + b",".join(text for part in value.pos0 for text in part) + b"]"
    return value.pos0 if isinstance(value, Value.Inline) else b"".join(value.pos0)
