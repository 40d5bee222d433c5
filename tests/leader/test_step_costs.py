"""What steps may cost, and how many of them a worker can pay."""

from nexus_tools.leader.closing.step_costs import affordable, cost_mist
from nexus_tools.registry import Gather, RequestIterations, RequestRun
from nexus_tools.workflow import Run

PRICE = 1_000
# 1 000 units, 250 for its run, and 20 000 000 MIST of storage.
ONE_MIST = 1_250 * PRICE + 20_000_000
REQUESTS = [RequestRun(Run("one")), RequestRun(Run("two")), Gather(0, ())]


def iterations(limit):
    return RequestIterations("each", (), limit)


def test_a_purse_that_covers_all_steps_pays_all():
    assert cost_mist(REQUESTS[:2], PRICE) == 2 * ONE_MIST
    assert affordable(REQUESTS, 10 * ONE_MIST, PRICE) == tuple(REQUESTS)


def test_of_steps_the_first_ones_are_paid():
    assert affordable(REQUESTS, 2 * ONE_MIST - 1, PRICE) == (REQUESTS[0],)
    assert affordable(REQUESTS, ONE_MIST - 1, PRICE) == ()


def test_of_iterations_half_as_many_are_requested_until_they_are_paid():
    # Eight cost 3 000 units and 160 000 000 MIST of storage.
    eight_mist = 3_000 * PRICE + 160_000_000
    assert affordable([iterations(32)], eight_mist, PRICE) == (iterations(8),)
    assert affordable([iterations(32)], eight_mist - 1, PRICE) == (iterations(4),)


def test_affordable_steps_request_twenty_runs_at_most():
    rich_mist = 10**12
    assert affordable([iterations(32)], rich_mist, PRICE) == (iterations(16),)
    requests = [RequestRun(Run(f"run{number}")) for number in range(30)]
    assert affordable(requests, rich_mist, PRICE) == tuple(requests[:20])
    mixed = [iterations(16), *requests[:2], iterations(8)]
    assert affordable(mixed, rich_mist, PRICE) == (*mixed[:3], iterations(2))
    assert affordable(requests, rich_mist, PRICE, 0) == ()
