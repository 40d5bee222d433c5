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


def cost_mist(steps: Iterable[ExecutionStep], price: int) -> int:
    """What steps may cost at this gas price."""
    return sum(_cost_mist(step, price) for step in steps)


def affordable(
    steps: Sequence[ExecutionStep], purse_mist: int, price: int
) -> tuple[ExecutionStep, ...]:
    """The first ones of the steps, and of iterations as many, as a worker can pay."""
    found: list[ExecutionStep] = []
    for step in steps:
        fits = _reduced(step, purse_mist, price)
        if fits is None:
            break
        found.append(fits)
        purse_mist -= _cost_mist(fits, price)
    return tuple(found)


def _reduced(step: ExecutionStep, purse_mist: int, price: int) -> ExecutionStep | None:
    while _cost_mist(step, price) > purse_mist:
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
