"""What steps of executions may cost, and how many of them a worker can pay.

The execution pays back what they store, in the same transaction; the budget has to be there before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nexus_tools.registry import ExecutionStep, RequestIterations, RequestRun

# Bounds in gas units, and in MIST of storage for each run that is requested, or list that is
# brought: what is not used is not paid.
_UNITS_PER_STEP = 1_000
_UNITS_PER_RUN = 250
_STORAGE_PER_RUN_MIST = 20_000_000

MAX_RUNS = 20
"""So many runs are requested in one transaction at most, or edges followed: gas gets dearer the
longer a transaction runs, and each one pays for itself alone."""


def cost_mist(steps: Iterable[ExecutionStep], price: int) -> int:
    """What steps may cost at this gas price."""
    return sum(_cost_mist(step, price) for step in steps)


def affordable(
    steps: Sequence[ExecutionStep], purse_mist: int, price: int, runs: int = MAX_RUNS
) -> tuple[ExecutionStep, ...]:
    """The first ones of the steps, and of iterations as many, as a worker can pay.

    They request as many `runs` at most.
    """
    found: list[ExecutionStep] = []
    for step in steps:
        fits = _reduced(step, purse_mist, price, runs)
        if fits is None:
            break
        found.append(fits)
        purse_mist -= _cost_mist(fits, price)
        runs -= _runs(fits)
    return tuple(found)


def run_count(steps: Iterable[ExecutionStep]) -> int:
    """How many runs steps request at most."""
    return sum(map(_runs, steps))


def _reduced(step: ExecutionStep, purse_mist: int, price: int, runs: int) -> ExecutionStep | None:
    while _cost_mist(step, price) > purse_mist or _runs(step) > runs:
        if not isinstance(step, RequestIterations) or step.limit == 1:
            return None
        step = replace(step, limit=step.limit // 2)
    return step


def _cost_mist(step: ExecutionStep, price: int) -> int:
    runs = _runs(step)
    units = _UNITS_PER_STEP + runs * _UNITS_PER_RUN
    return units * price + max(1, runs) * _STORAGE_PER_RUN_MIST


def _runs(step: ExecutionStep) -> int:
    match step:
        case RequestRun():
            return 1
        case RequestIterations(_, _, limit):
            return limit
    return 0
