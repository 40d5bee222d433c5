"""The cost of execution steps, and the number of steps that a worker can pay.

The execution refunds the storage cost of its steps in the same transaction, but the transaction's
budget must include it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nexus_tools.registry import ExecutionStep, RequestIterations, RequestRun

# Upper bounds of the computation in gas units, and of the storage in MIST for each requested run or
# gathered list. The chain does not charge the unused part of a budget.
_UNITS_PER_STEP = 1_000
_UNITS_PER_RUN = 250
_STORAGE_PER_RUN_MIST = 20_000_000

MAX_RUNS = 20
"""The maximum number of runs requested, or edges followed, in one transaction.

Gas per instruction rises with the length of a transaction, but the payment per run is fixed."""


def cost_mist(steps: Iterable[ExecutionStep], price: int) -> int:
    """Return the maximum cost of steps at this gas price, in MIST."""
    return sum(_cost_mist(step, price) for step in steps)


def affordable_steps(
    steps: Sequence[ExecutionStep], purse_mist: int, price: int, runs: int = MAX_RUNS
) -> tuple[ExecutionStep, ...]:
    """Return the first steps that a worker can pay, with fewer iterations if necessary.

    The returned steps request at most `runs` runs.
    """
    chosen: list[ExecutionStep] = []
    for step in steps:
        reduced = _affordable_part(step, purse_mist, price, runs)
        if reduced is None:
            break
        chosen.append(reduced)
        purse_mist -= _cost_mist(reduced, price)
        runs -= _run_limit(reduced)
    return tuple(chosen)


def run_count(steps: Iterable[ExecutionStep]) -> int:
    """Return the maximum number of runs that steps request."""
    return sum(map(_run_limit, steps))


def _affordable_part(
    step: ExecutionStep, purse_mist: int, price: int, runs: int
) -> ExecutionStep | None:
    while _cost_mist(step, price) > purse_mist or _run_limit(step) > runs:
        if not isinstance(step, RequestIterations) or step.limit == 1:
            return None
        step = replace(step, limit=step.limit // 2)
    return step


def _cost_mist(step: ExecutionStep, price: int) -> int:
    runs = _run_limit(step)
    units = _UNITS_PER_STEP + runs * _UNITS_PER_RUN
    return units * price + max(1, runs) * _STORAGE_PER_RUN_MIST


def _run_limit(step: ExecutionStep) -> int:
    match step:
        case RequestRun():
            return 1
        case RequestIterations(_, _, limit):
            return limit
    return 0
