from importlib import import_module

import pytest

from nexus_tools.contracts import code_of, explain_abort, kind_of, move_bindings
from nexus_tools.contracts.aborts import KINDS
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock
from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.types.address import Address

SUI = 1_000_000_000
DAY = 86_400_000


MODULES = (
    *("collateral", "dag", "definition", "failure", "function", "invocation", "json", "keys"),
    *("leader", "leader_registry", "name", "on_chain_call", "owner", "plan", "roster"),
    *("signed_outcome", "tool", "tool_registry", "value", "version", "waiting"),
)
OF_EXECUTIONS = ("cleaning", "dag_registry", "execution", "inputs", "schedule", "state", "timing")
"""Their error constants are reached by unit tests in Move, some by tests of executions, too.

Only packages reach the errors of `state`, because transactions keep no references.
"""


def test_every_module_with_errors_has_a_file_of_cases():
    # Each error constant of these modules has a case in tests/contracts/aborts.
    aborting = [
        name
        for place in (move_bindings, move_bindings.workflows)
        for name in place.TYPES.modules
        if hasattr(import_module(f"{place.__name__}.{name}"), "ERRORS")
    ]
    assert sorted(aborting) == sorted(MODULES + OF_EXECUTIONS)


def errors_of(module):
    place = (
        move_bindings.workflows
        if module in move_bindings.workflows.TYPES.modules
        else move_bindings
    )
    return import_module(f"{place.__name__}.{module}").ERRORS


def test_error_codes_are_unique_in_their_module():
    for module in MODULES + OF_EXECUTIONS:
        errors = errors_of(module)
        assert all(code_of(error).islower() and kind_of(error).exit_code > 1 for error in errors)
        assert len({code_of(error) for error in errors}) == len(errors)


def test_error_kinds_name_only_error_constants():
    stated = {error.name for module in MODULES + OF_EXECUTIONS for error in errors_of(module)}
    stated |= {error.name for error in upgrade_lock.ERRORS}
    assert {name for names in KINDS.values() for name in names} <= stated


def abort(**details):
    return RefusedOnChainError("move_abort", "aborts", details=details)


def test_explain_abort_reports_the_possible_time(chain):
    package = str(chain.deployment.original_id)
    error = abort(package=package, module="collateral", abort=2)
    at = 1_795_857_240_000  # 2026-11-28 09:14:00 UTC
    explained = explain_abort(error, chain.deployment, possible_at_ms=at, now_ms=at - 3 * DAY)
    assert (
        "The unregister delay is not over: claimable at 2026-11-28 09:14 UTC (in 3 d)"
        in explained.message
    )
    assert explained.hint == "Claim later."


@pytest.mark.parametrize(
    "details",
    [
        {"package": str(Address.of(2)), "module": "collateral", "abort": 2},
        {"package": None, "module": "balance", "abort": 2},
        {"package": None, "module": "collateral", "abort": 99},
        {"command": 1},
    ],
)
def test_explain_abort_keeps_aborts_of_other_packages(chain, details):
    if "package" in details and details["package"] is None:
        details = {**details, "package": str(chain.deployment.original_id)}
    error = abort(**details)
    assert explain_abort(error, chain.deployment) is error
