"""The rules of an execution as pure arithmetic: the payment of a leader for each transaction.

It has the same methods as `PlayedExecution`, an execution on chain.
"""

from collections import Counter
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.leader.closing.step_costs import MAX_RUNS, affordable_steps
from nexus_tools.registry import StepPredictor, execution_outcome
from nexus_tools.registry.executions.step_commands import (
    MAX_ITERATIONS,
    GatherRegion,
    RequestIterations,
    RequestRun,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    ERR_EVAL,
    GroupStarted,
    Run,
    RunClosed,
    RunFailed,
    RunPhase,
    RunRequested,
    RunSettled,
    Status,
)
from tests.economics.counted_execution import REQUEST, CountedExecution
from tests.economics.fee_rules import BYTE_MIST, MAX_PORTS_BYTES, MAX_READ_BYTES, Paid
from tests.economics.funds_rules import FundsShortError, Needs
from tests.economics.input_rules import InputRules

NOBODY = Address(bytes(32))
MIST = 10**9
DAY_MS = 86_400_000
WINDOW_MS = 5_000 + 15_000
"""The time that each leader has: the timeout of the tools of these stories, and 15 s."""
LEADER_BYTES = 32
AMPLE_MIST = MIST // 2
"""More than a transaction pays for the effort of these documents, at any gas price of the tests."""


def following_steps(plan, run, attempt, answer):
    """Return the steps that a Leader adds to the transaction that closes a run."""
    foresight = StepPredictor(plan)
    foresight.add_closing(run, attempt, execution_outcome(answer))
    edges = max(map(len, plan.vertices[run.vertex].variants.values()), default=0)
    return affordable_steps(foresight.steps(), AMPLE_MIST * 1_000, 1, MAX_RUNS - edges)


@dataclass(frozen=True)
class ClosedRun:
    """A closed run that the execution has not processed yet."""

    invocation: int
    outcome: RunSettled | RunFailed
    outcome_bytes: int


@dataclass
class RuledClock:
    """The time of the network."""

    now_ms: int = 0


class RuledExecution:
    """One execution by the rules; `paid` lists the payments of the worker's transactions.

    Its worker belongs to one of the first `leaders`.
    """

    def __init__(self, document, plan, kind_of, fees, *, clock=None, leaders=1):
        self.document, self.plan = document, plan
        self.clock, self.leaders = clock or RuledClock(), leaders
        self.kind_of, self.fees = kind_of, fees
        self.paid, self.closings = [], Counter()
        edges = [
            edge
            for vertex in plan.vertices.values()
            for into in vertex.incoming.values()
            for edge in into
        ]
        shared = document, plan, fees, kind_of, self.clock, *edges
        self._shared = {id(item): item for item in shared}
        self.semantics = CountedExecution(plan)
        self.requests, self.closed, self.expires_at_ms = {}, {}, {}
        self.invocations, self.states, self.payments = {}, {}, {}
        self.number_of_requests = self.steps_taken = self.shortages = 0
        self.funds_mist = self.given_mist = self.refunded_mist = 0
        self.is_timeout_raised, self.ended_at_ms = False, None

    def begin(
        self,
        values,
        *,
        max_steps=1_000,
        funds_mist=60 * MIST,
        max_outcome_bytes=MAX_PORTS_BYTES,
        duration_ms=DAY_MS,
        is_scheduled=False,
    ):
        """Start it with entry values by vertex and port, and return the bytes of its records."""
        self.values, self.max_steps, self.is_scheduled = values, max_steps, is_scheduled
        self.given_mist = self.funds_mist = funds_mist
        self.duration_ms, self.deadline_ms = duration_ms, self.clock.now_ms + duration_ms
        self.needs = Needs(self.plan, self.kind_of, self.fees, max_outcome_bytes)
        self._shared |= {id(values): values, id(self.needs): self.needs}
        self.semantics.apply(GroupStarted(DEFAULT_GROUP))
        written, _ = self.semantics.take_counts()
        self._finish()
        foresight = StepPredictor(self.plan)
        foresight.add_start(DEFAULT_GROUP)
        self.steps = foresight.steps()
        return written

    def take(self, steps=None):
        """Execute steps as the worker."""
        with self._transaction() as paid:
            self._take(self.steps if steps is None else steps, paid)

    def close(self, run, answer, *, advances_executions=True):
        """Close a run with an answer or a failure, continue, and return the outcome."""
        attempt = self.requests[run][1]
        with self._transaction() as paid:
            self.closings[run] += 1
            answer = self._settle(run, answer, paid)
            steps = following_steps(self.plan, run, attempt, answer)
            if advances_executions:
                self._advance(run, paid)
                self._take(steps, paid)
        return answer

    def advance(self, run, *, as_leader=True):
        """Continue with a run that is closed or expired."""
        with self._transaction() as paid:
            paid.is_leader = as_leader
            if run in self.requests:
                invocation, _ = self.requests.pop(run)
                self.states[invocation] = State.Expired()
                self.closed[run] = ClosedRun(invocation, RunFailed("expired"), 0)
            self._advance(run, paid)

    def stop(self, status):
        """End the execution early, because its owner cancels or its deadline has passed."""
        self.semantics.end_early(status)
        self._finish()

    def refill(self, amount_mist):
        """Add to the funds."""
        self.funds_mist += amount_mist
        self.given_mist += amount_mist

    def raise_timeouts(self):
        """Raise the timeouts of the tools beyond what the execution allows."""
        self.is_timeout_raised = True

    def expire_all(self):
        """Let all pending invocations expire."""
        self.clock.now_ms += (WINDOW_MS + 1_000) * self.leaders

    def pass_deadline(self):
        """Let the deadline of the execution pass."""
        self.clock.now_ms += DAY_MS

    def expire(self):
        """End the execution because its deadline has passed."""
        if not self.has_ended:
            self.stop(Status.TIMED_OUT)

    def due(self):
        """Return the steps that can be executed now."""
        ready, iterations = [], {}
        for run in self.semantics.ready():
            found = self.semantics.records.cursor_of(run)
            if run in self.semantics.records.runs:
                ready.append(RequestRun(run))
            elif found is not None:
                key = run.vertex, found[0][1]
                iterations[key] = iterations.get(key, 0) + 1
        ready += [RequestIterations(*key, count) for key, count in iterations.items()]
        return (*ready, *(GatherRegion(*region) for region in self.semantics.waiting_regions))

    @property
    def overdue(self):
        """The expired runs that were not closed."""
        now_ms = self.clock.now_ms
        return {run for run in self.requests if self.expires_at_ms[run] <= now_ms}

    @property
    def is_late(self):
        """Whether its deadline has passed."""
        return self.clock.now_ms >= self.deadline_ms

    @property
    def has_ended(self):
        """Whether it has ended."""
        return self.ended_at_ms is not None

    @property
    def spent_mist(self):
        """The total payment of its worker."""
        return sum(paid.mist for paid in self.paid)

    @property
    def held_mist(self):
        """The funds, and the payments of invocations."""
        return self.funds_mist + sum(self.payments.values())

    # --- A transaction

    @contextmanager
    def _transaction(self):
        """Undo the whole transaction if the funds are insufficient."""
        before = None if self.funds_mist > AMPLE_MIST else self._copy()
        self.paid.append(Paid())
        try:
            yield self.paid[-1]
        except FundsShortError:
            del self.paid[-1]
            self.__dict__ |= before
            raise

    def _copy(self):
        kept = {"document", "plan", "kind_of", "fees", "clock", "paid", "closings", "states"}
        kept |= {"_shared"}
        changing = {name: value for name, value in self.__dict__.items() if name not in kept}
        return deepcopy(changing, dict(self._shared))

    def _settle(self, run, answer, paid):
        """Close a run, and return the outcome, which is a failure if the inputs are too large."""
        invocation, _ = self.requests.pop(run)
        kind = self.kind_of(run.vertex)
        if isinstance(answer, Answer) and kind.is_read:
            paid.read_bytes = InputRules(self).read_bytes(run)
            if paid.read_bytes > MAX_READ_BYTES:
                paid.read_bytes = 0
                answer = Failure(FailureReason.INPUT_INVALID, "the inputs are too large")
        if isinstance(answer, Answer):
            ports = ports_of(answer.ports)
            self.states[invocation] = State.Settled(answer.variant, ports, NOBODY, 0)
            paid.closing, paid.call_mist = "settled", kind.gas_mist
            paid.outcome_bytes = len(answer.variant) + ports.size()
            fee_mist = self.fees.settling_mist(paid.outcome_bytes, paid.read_bytes) + kind.gas_mist
        else:
            is_kept = ERR_EVAL in self.plan.vertices[run.vertex].variants
            detail = answer.detail if is_kept else ""
            self.states[invocation] = State.Failed(answer.reason.value, detail, NOBODY, 0)
            paid.closing = "failed"
            paid.outcome_bytes = len(answer.reason.value) + len(detail)
            fee_mist = self.fees.failing_mist(len(detail))
        paid.fees_mist += fee_mist
        self.payments[invocation] -= fee_mist
        assert self.payments[invocation] >= 0
        self.closed[run] = ClosedRun(invocation, execution_outcome(answer), paid.outcome_bytes)
        return answer

    def _advance(self, run, paid):
        closed = self.closed[run]
        variant = closed.outcome.variant if isinstance(closed.outcome, RunSettled) else None
        back_mist = self.payments[closed.invocation]
        needed_mist = self.needs.advance_mist(run.vertex, variant, closed.outcome_bytes)
        if not self.semantics.is_ending and self._is_short(needed_mist, back_mist):
            return
        del self.closed[run], self.payments[closed.invocation]
        self.funds_mist += back_mist
        self.semantics.apply(RunClosed(run, closed.outcome))
        paid.rewritten_bytes = closed.outcome_bytes
        self._pay(paid, advancing_mist=self.fees.advancing_mist(closed.outcome_bytes))
        self._finish()

    def _is_short(self, needed_mist, back_mist=0):
        is_short = self.funds_mist + back_mist < needed_mist
        self.shortages += is_short
        return is_short

    def _pay(self, paid, *, more_bytes=0, effort=0, advancing_mist=0):
        """Pay the sender for storage and computation; after an early end, as far as funds last."""
        written, worked = self.semantics.take_counts()
        stored_mist = (written + more_bytes) * BYTE_MIST
        fees_mist = self.fees.worked_mist(effort + worked) + advancing_mist
        lacking_mist = max(0, stored_mist + fees_mist - self.funds_mist)
        if lacking_mist and not self.semantics.is_ending:
            raise FundsShortError
        paid.effort += effort + worked
        paid.stored_mist += stored_mist
        paid.fees_mist += fees_mist - lacking_mist
        self.funds_mist -= stored_mist + fees_mist - lacking_mist

    def _finish(self):
        """Refund unused funds when the execution ends or cannot continue."""
        if self.has_ended:
            return
        if self.semantics.is_over:
            self.ended_at_ms = self.clock.now_ms
        if not self.is_scheduled and (self.has_ended or self.semantics.is_ending):
            self.refunded_mist += self.funds_mist
            self.funds_mist = 0

    # --- Steps

    def _take(self, steps, paid):
        for step in steps:
            match step:
                case RequestRun(run):
                    self._request_run(run, paid)
                case RequestIterations(vertex, path, limit):
                    self._request_iterations(vertex, path, limit, paid)
                case GatherRegion(block, path):
                    self._gather(block, path, paid)

    def _gather(self, block, path, paid):
        if self.semantics.is_ending or (block, path) not in self.semantics.waiting_regions:
            return
        if not self._is_short(self.needs.gather_mist(block)):
            self.semantics.gather(block, path)
            self._pay(paid)
            self._finish()

    def _request_run(self, run, paid):
        record = self.semantics.records.runs.get(run)
        is_ready = not self.semantics.is_ending and record and record.phase is RunPhase.READY
        if self._ends_late() or not is_ready:
            return
        if not self._is_short(self._requests_mist(run.vertex, 1)):
            self._request([run], paid)

    def _request_iterations(self, vertex, path, limit, paid):
        if self._ends_late():
            return
        block = self.plan.vertices[vertex].region
        instance = self.semantics.records.instances.get((block, path))
        if self.semantics.is_ending or instance is None or vertex not in instance.cursors:
            return
        cursor, left = instance.cursors[vertex], max(1, self.max_steps - self.steps_taken)
        count = min(cursor.end - cursor.next, limit, MAX_ITERATIONS, left)
        if count <= 0 or self._is_short(self._requests_mist(vertex, 1)):
            return
        while self._requests_mist(vertex, count) > self.funds_mist:
            count //= 2
        records, first = self.semantics.records, cursor.next
        self._request([records.iteration(vertex, path, first + i) for i in range(count)], paid)

    def _ends_late(self):
        """End the execution if its deadline has passed, and return whether it has."""
        if self.is_late:
            self.expire()
        return self.is_late

    def _requests_mist(self, vertex, count):
        is_refused = self._refusal(self.steps_taken + count) is not None
        return self.needs.requests_mist(vertex, count, is_refused=is_refused)

    def _request(self, runs: list[Run], paid):
        bytes_written = 0
        for run in runs:
            self.semantics.apply(RunRequested(run))
        for run in runs:
            self.steps_taken += 1
            reason = self._refusal(self.steps_taken)
            if reason is not None:
                bytes_written += self._refuse(run, reason, paid)
                continue
            self.number_of_requests += 1
            invocation = self.number_of_requests
            self.invocations[run] = invocation
            self.requests[run] = invocation, self.semantics.attempt(run)
            self.expires_at_ms[run] = self.clock.now_ms + WINDOW_MS * self.leaders
            self.payments[invocation] = self.needs.attempt_mist(run.vertex)
            self.funds_mist -= self.payments[invocation]
            kind = self.kind_of(run.vertex)
            bytes_written += kind.invocation_bytes + 4 * len(run.path)
            bytes_written += LEADER_BYTES * (self.leaders - 1)
        self._pay(paid, more_bytes=bytes_written, effort=REQUEST * len(runs))
        self._finish()

    def _refusal(self, step):
        if step > self.max_steps:
            return "too_many_steps"
        return "timeout_too_long" if self.is_timeout_raised else None

    def _refuse(self, run, reason, paid):
        fee_mist = self.fees.refusing_mist()
        paid.fees_mist += fee_mist
        self.funds_mist -= fee_mist
        paid.refusals += 1
        self.semantics.apply(RunClosed(run, RunFailed(reason, is_refusal=True)))
        if self.steps_taken > self.max_steps:
            self.semantics.end_early(Status.TERMINATED)
        return len(reason)
