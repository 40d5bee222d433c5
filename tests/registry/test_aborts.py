import pytest

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.registry import (
    ABORTS,
    explain_abort,
)
from nexus_tools.sui.address import Address

SUI = 1_000_000_000
DAY = 86_400_000


def test_every_module_that_aborts_has_a_file_of_cases():
    # tests/registry/aborts: every error constant of these is reached on a chain.
    assert set(ABORTS) == {
        *("bond", "value", "tool_registry", "tool"),  # test_tool.py
        "leader_registry",
        "invocation",
    }


def abort(**details):
    return RefusedOnChainError("move_abort", "aborts", details=details)


def test_the_time_when_it_will_be_possible_is_told(chain):
    package = str(chain.deployment.original_id)
    error = abort(package=package, module="bond", abort=2)
    at = 1_795_857_240_000  # 2026-11-28 09:14:00 UTC
    told = explain_abort(error, chain.deployment, possible_at_ms=at, now_ms=at - 3 * DAY)
    assert "possible from 2026-11-28 09:14 UTC (in 3 d)" in told.message
    assert told.hint == "reclaim later"


@pytest.mark.parametrize(
    "details",
    [
        {"package": str(Address.of(2)), "module": "bond", "abort": 2},
        {"package": None, "module": "balance", "abort": 2},
        {"package": None, "module": "bond", "abort": 99},
        {"command": 1},
    ],
)
def test_an_abort_of_other_code_is_left_as_it_is(chain, details):
    if "package" in details and details["package"] is None:
        details = {**details, "package": str(chain.deployment.original_id)}
    error = abort(**details)
    assert explain_abort(error, chain.deployment) is error
