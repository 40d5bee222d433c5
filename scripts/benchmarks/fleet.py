"""A fleet: several processes of one leader that share a journal in PostgreSQL, under faults.

Each case has its own localnet, PostgreSQL server and tool server. The processes have different
worker keys of the same leader. While the fleet works, the case kills, suspends or restarts parts of
it. Afterwards, the benchmark compares the events on the chain with the calls that the tool server
received.

`scripts/bench fleet:CASE` runs one case.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.figure import Figure, at_least, at_most
from benchmarks.fleet_calls import (
    Call,
    calls_per_invocation,
    longest_stall,
    longest_wait,
    most_at_once,
    read_calls,
)
from benchmarks.fleet_faults import (
    AWAY_S,
    FREEZE_S,
    Fault,
    away,
    cut,
    frozen,
    killed_every,
    nothing,
    restarted,
    silent,
)
from benchmarks.fleet_record import Record
from benchmarks.fleet_stage import CALLS, FleetTerms, fleet_stage
from benchmarks.fleet_tools import HANGING, LONG, MIDDLE, QUICK
from benchmarks.fleet_work import Work, work_through
from benchmarks.flows import ECHO
from benchmarks.weather import all_lost_mist

INVOCATIONS = 1_000
EXECUTIONS = 200
SPAN_S = 45.0
LIMIT_S = 120.0
MIXED_LIMIT_S = 240.0
PROCESSES = 4
KILL_EVERY_S = 5.0
KILL_MIXED_EVERY_S = 45.0
KILLED_FOR_S = 35.0
"""The window of a hanging tool, so that at most one kill falls into a window.

No process can close an invocation that loses its process twice, the second time shortly before its
window ends.
"""
MOST_CALLS = 1.02
MOST_STALL_S = 2.0
TAKE_OVER_S = 12.0
"""The longest time until another process owns the invocations of a process that failed."""
SILENCE_S = 5.0
"""The time after which a process replaces a connection to PostgreSQL that gives no answers."""
LAG_S = 60.0

_FOUR = FleetTerms(PROCESSES)
_QUICK_FQNS = {str(QUICK), str(ECHO)}
_HANGING_FQNS = set(map(str, HANGING))

_AT_ONCE = Work({QUICK: INVOCATIONS}, EXECUTIONS, 0.0, LIMIT_S, per_request=50)
_SHORT = Work({QUICK: INVOCATIONS}, EXECUTIONS, SPAN_S, LIMIT_S)
_SHORT_AND_MIDDLE = Work({QUICK: INVOCATIONS - 200, MIDDLE: 200}, EXECUTIONS, SPAN_S, LIMIT_S)
_MIXED = Work(
    {
        LONG: 10,
        **dict.fromkeys(HANGING, 10),
        MIDDLE: 200,
        QUICK: INVOCATIONS - 210 - 10 * len(HANGING),
    },
    EXECUTIONS,
    SPAN_S,
    MIXED_LIMIT_S,
)
_BOUNDED = Work({MIDDLE: 40}, 0, 0.0, LIMIT_S)


@dataclass(frozen=True, slots=True)
class Case:
    """A case: the work, the processes, and the fault.

    `hidden_s` is the time for which the design lets work wait because of the fault. With
    `may_repeat`, calls in flight may be lost, so tools may be called more often.
    """

    work: Work
    terms: FleetTerms = _FOUR
    fault: Fault = nothing
    hidden_s: float = 0.0
    may_repeat: bool = False


CASES: Mapping[str, Case] = {
    "one": Case(_AT_ONCE, FleetTerms(1)),
    "two": Case(_AT_ONCE, FleetTerms(2)),
    "four": Case(_AT_ONCE),
    "bounded": Case(_BOUNDED, FleetTerms(PROCESSES, bound=1)),
    "mixed": Case(_MIXED, FleetTerms(PROCESSES, bound=8)),
    "killed": Case(_SHORT, fault=killed_every(KILL_EVERY_S), hidden_s=TAKE_OVER_S, may_repeat=True),
    "killed-mixed": Case(
        _MIXED,
        FleetTerms(PROCESSES, bound=8),
        killed_every(KILL_MIXED_EVERY_S, KILLED_FOR_S),
        hidden_s=TAKE_OVER_S,
        may_repeat=True,
    ),
    "frozen": Case(_SHORT_AND_MIDDLE, fault=frozen, hidden_s=FREEZE_S, may_repeat=True),
    "cut": Case(_SHORT_AND_MIDDLE, FleetTerms(PROCESSES, through_proxy=True), cut),
    "silent": Case(
        _SHORT_AND_MIDDLE,
        FleetTerms(PROCESSES, through_proxy=True),
        silent,
        hidden_s=SILENCE_S,
    ),
    "away": Case(_SHORT_AND_MIDDLE, fault=away, hidden_s=AWAY_S),
    "behind": Case(_SHORT_AND_MIDDLE, FleetTerms(PROCESSES, lag_s=LAG_S)),
    "restarted": Case(_SHORT_AND_MIDDLE, fault=restarted),
}


@dataclass(frozen=True, slots=True)
class Result:
    """The events, calls and costs of a case, which ended at `until`. CPU times are in seconds.

    `open_rows` and `leases` are what the journal contains after all processes have stopped.
    """

    record: Record
    calls: list[Call]
    until: float
    processes_cpu_s: list[float]
    postgres_cpu_s: float
    faults: int
    failures: list[str]
    open_rows: int
    leases: int
    lost_mist: int
    transactions: int


def measure(folder: Path, names: Collection[str] = tuple(CASES)) -> Iterator[Figure]:
    """Yield the figures of each case."""
    for name in names:
        case = CASES[name]
        result = asyncio.run(_play(folder / name, case))
        yield from figures(name, case, result)


async def _play(folder: Path, case: Case) -> Result:
    async with fleet_stage(folder, case.terms) as fleet:
        before_s, postgres_before_s = fleet.cpu_s, fleet.postgres.cpu_s
        await work_through(fleet, case.work, case.fault)
        until = monotonic()
        fleet.note_ended()
        cpu_s = [later - earlier for earlier, later in zip(before_s, fleet.cpu_s, strict=True)]
        postgres_cpu_s = fleet.postgres.cpu_s - postgres_before_s
        await asyncio.to_thread(fleet.tools.ask, "calls")
        await fleet.stop()
        open_rows = fleet.journal_count("invocations WHERE stage <> 'closed'")
        leases = fleet.journal_count("workers")
    lost, transactions = all_lost_mist(folder / "state")
    return Result(
        fleet.record,
        read_calls(folder / CALLS),
        until,
        cpu_s,
        postgres_cpu_s,
        fleet.faults,
        fleet.failures,
        open_rows,
        leases,
        lost,
        transactions,
    )


# --- Figures


def figures(name: str, case: Case, result: Result) -> Iterator[Figure]:
    """Yield the figures of a case."""
    yield from _outcome_figures(name, case, result)
    yield from _call_figures(name, case, result)
    if case.fault is nothing:
        yield from _speed_figures(name, result)
    yield Figure(f"fleet {name}: time", result.record.seconds, "s")


def _outcome_figures(name: str, case: Case, result: Result) -> Iterator[Figure]:
    record, total = result.record, case.work.total
    yield Figure(f"fleet {name}: invocations requested", record.direct, "", target=at_least(total))
    wrong = len(record.not_closed_once)
    requested = len(record.requested)
    note = f"{name}: {requested} invocations with those of executions, {_failures(record)}"
    yield Figure(f"fleet {name}: not closed exactly once", wrong, "", target=at_most(0), note=note)
    yield Figure(f"fleet {name}: missed", len(record.missed), "", target=at_most(0))
    completed = record.statuses["completed"]
    target = at_least(case.work.executions)
    note = f"{name}: {dict(record.statuses)}"
    yield Figure(f"fleet {name}: executions completed", completed, "", target=target, note=note)
    note = f"{name}: in {result.transactions} transactions"
    yield Figure(f"fleet {name}: SUI lost", result.lost_mist, "MIST", target=at_most(0), note=note)
    note = f"{name}: {result.faults} faults; {'; '.join(result.failures) or 'no process failed'}"
    failed = len(result.failures)
    yield Figure(f"fleet {name}: processes failed", failed, "", target=at_most(0), note=note)
    left = result.open_rows
    yield Figure(f"fleet {name}: open in the journal at the end", left, "", target=at_most(0))
    # A killed process leaves its lease until another process ends it.
    limit = None if case.may_repeat else at_most(0)
    yield Figure(f"fleet {name}: leases at the end", result.leases, "", target=limit)
    unexpected = [fqn for fqn in _failed_tools(record) if fqn not in _HANGING_FQNS]
    yield Figure(f"fleet {name}: failed without a hanging tool", len(unexpected), "", target=limit)


def _failed_tools(record: Record) -> list[str]:
    return [record.tools[invocation] for invocation in record.failures]


def _failures(record: Record) -> str:
    """Return how often invocations failed, by reason."""
    counts = Counter(record.failures.values())
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "none failed"


def _call_figures(name: str, case: Case, result: Result) -> Iterator[Figure]:
    """Yield the figures of the calls. Only quick tools count for the times."""
    record, calls = result.record, result.calls
    answered = [call for call in calls if call.tool not in _HANGING_FQNS]
    target = None if case.may_repeat else at_most(MOST_CALLS)
    repeated = sum(call.is_repetition for call in answered)
    note = f"{name}: {repeated} further calls while the invocation was still running"
    rate = calls_per_invocation(answered)
    yield Figure(f"fleet {name}: tool calls", rate, "each", target=target, note=note)
    if case.terms.bound is not None:
        [(tool, most)] = most_at_once(calls).most_common(1)
        limit = at_most(case.terms.bound * case.terms.processes)
        note = f"{name}: {tool}"
        yield Figure(f"fleet {name}: calls of a tool at once", most, "", target=limit, note=note)
    requested = {
        str(invocation): at
        for invocation, at in record.requested.items()
        if record.tools[invocation] in _QUICK_FQNS
    }
    stall = longest_stall(requested, calls, result.until)
    target = at_most(MOST_STALL_S + case.hidden_s)
    yield Figure(f"fleet {name}: longest time without a call", stall, "s", target=target)
    wait = longest_wait(requested, calls, result.until)
    yield Figure(f"fleet {name}: longest time from request to call", wait, "s")


def _speed_figures(name: str, result: Result) -> Iterator[Figure]:
    closed = max(1, result.record.closed.total())
    yield Figure(f"fleet {name}: closings", closed / max(result.record.seconds, 1e-3), "/s")
    all_s = sum(result.processes_cpu_s)
    shares = ", ".join(f"{one_s / all_s:.0%}" for one_s in result.processes_cpu_s)
    note = f"{name}: shares of the processes in their CPU time: {shares}"
    yield Figure(f"fleet {name}: CPU of the processes", all_s / closed * 1e3, "ms each", note=note)
    yield Figure(
        f"fleet {name}: CPU of PostgreSQL", result.postgres_cpu_s / closed * 1e3, "ms each"
    )
