"""The cost of steps, and how many of them a worker can pay for."""

from nexus_tools.leader.closing.step_costs import affordable_steps, cost_mist
from nexus_tools.registry import GatherRegion, RequestIterations, RequestRun
from nexus_tools.workflow import Run

PRICE = 1_000
# 1 000 gas units, 250 for the run, and 20 000 000 MIST of storage.
ONE_MIST = 1_250 * PRICE + 20_000_000
REQUESTS = [RequestRun(Run("one")), RequestRun(Run("two")), GatherRegion(0, ())]


def iterations(limit):
    return RequestIterations("each", (), limit)


def test_sufficient_balance_pays_for_all_steps():
    assert cost_mist(REQUESTS[:2], PRICE) == 2 * ONE_MIST
    assert affordable_steps(REQUESTS, 10 * ONE_MIST, PRICE) == tuple(REQUESTS)


def test_insufficient_balance_pays_for_the_first_steps():
    assert affordable_steps(REQUESTS, 2 * ONE_MIST - 1, PRICE) == (REQUESTS[0],)
    assert affordable_steps(REQUESTS, ONE_MIST - 1, PRICE) == ()


def test_iterations_are_halved_until_they_are_affordable():
    # Eight cost 3 000 gas units and 160 000 000 MIST of storage.
    eight_mist = 3_000 * PRICE + 160_000_000
    assert affordable_steps([iterations(32)], eight_mist, PRICE) == (iterations(8),)
    assert affordable_steps([iterations(32)], eight_mist - 1, PRICE) == (iterations(4),)


def test_affordable_steps_request_at_most_twenty_runs():
    rich_mist = 10**12
    assert affordable_steps([iterations(32)], rich_mist, PRICE) == (iterations(16),)
    requests = [RequestRun(Run(f"run{number}")) for number in range(30)]
    assert affordable_steps(requests, rich_mist, PRICE) == tuple(requests[:20])
    mixed = [iterations(16), *requests[:2], iterations(8)]
    assert affordable_steps(mixed, rich_mist, PRICE) == (*mixed[:3], iterations(2))
    assert affordable_steps(requests, rich_mist, PRICE, 0) == ()
