"""Tests of packages end as they do in the genuine runner.

The sample's verdicts are those of the unit-test runner of Sui 1.71.1 with the framework's sources,
which leaves out tests that take addresses.
"""

import pytest

from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.move_test import MoveTestRunner, Verdict, build_tests


def verdicts(results, module):
    return {title: result.verdict for title, result in results.items() if title.startswith(module)}


def test_tests_that_hold_pass(results):
    found = verdicts(results, "passing::")
    assert len(found) == 11
    assert set(found.values()) == {Verdict.PASS}


def test_failures_that_are_expected_pass(results):
    found = verdicts(results, "expecting::")
    assert len(found) == 14
    assert set(found.values()) == {Verdict.PASS}


def test_transactions_of_a_scenario_have_the_effects_of_the_genuine_ones(results):
    found = verdicts(results, "effects::")
    assert len(found) == 11
    assert set(found.values()) == {Verdict.PASS}


def test_failures_that_are_not_expected_fail(results):
    found = verdicts(results, "failing::")
    assert len(found) == 10
    assert set(found.values()) == {Verdict.FAIL}


def test_an_abort_is_shown_with_its_constant_line_and_call_stack(results):
    explanation = results["failing::aborts_with_a_constant"].explanation
    assert explanation.constant_name == ("sample::vault", "EEmpty")
    assert (explanation.path, explanation.line) == ("sources/vault.move", 31)
    assert explanation.stack == (
        "sample::vault::take (sources/vault.move:30)",
        "sample::failing::aborts_with_a_constant (tests/failing.move:9)",
    )


def test_an_assertion_without_a_code_is_shown_with_its_line(results):
    explanation = results["failing::asserts_without_a_code"].explanation
    assert (explanation.path, explanation.line) == ("tests/failing.move", 18)


def test_values_that_are_not_equal_are_printed(results):
    assert results["failing::compares"].printed == ('"left"', '"right"')


def test_a_random_test_that_fails_shows_its_arguments(results):
    (number,) = eval(results["failing::is_not_always_small"].arguments)
    assert number >= 100


def test_the_same_seed_gives_the_same_arguments(run):
    body = "#[random_test] fun never(number: u256, list: vector<u64>) { abort 1 }"
    one, again, other = (run(body, seed=seed)["never"].arguments for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_a_test_that_does_not_end_is_stopped(run):
    result = run("#[test] fun forever() { loop {} }", timeout_s=0.1, gas_limit=10**15)["forever"]
    assert result.verdict is Verdict.TIMEOUT


def test_a_test_that_needs_a_native_that_is_not_here_is_an_error(run):
    body = """
    native fun of_another_machine();
    #[test, expected_failure]
    fun calls() { of_another_machine() }
    """
    assert run(body)["calls"].verdict is Verdict.ERROR


def test_a_constant_that_cannot_be_found_is_an_error(run):
    body = """
    #[test, expected_failure(abort_code = sui::balance::ENoSuchError)]
    fun split() { abort 2 }
    """
    result = run(body)["split"]
    assert result.verdict is Verdict.ERROR
    assert "sui::balance::ENoSuchError" in result.reason


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (
            "sui::balance::ENotEnough",
            "let mut b = empty(); b.split(1).destroy_zero(); b.destroy_zero();",
        ),
        ("::sui::table::ETableNotEmpty", "let t = &mut tx_context::dummy(); full(t);"),
        ("option::EOPTION_NOT_SET", "option::none<u64>().destroy_some();"),
        ("vector::EINDEX_OUT_OF_BOUNDS", "vector[1u64].remove(1);"),
        ("std::uq32_32::EDivisionByZero", "std::uq32_32::from_int(1).div(zero());"),
    ],
)
def test_errors_of_the_framework_are_known_by_name(run, error, code):
    body = f"""
    fun full(ctx: &mut TxContext) {{
        let mut table = sui::table::new<u64, u64>(ctx);
        table.add(1, 1);
        table.destroy_empty();
    }}
    fun empty(): sui::balance::Balance<u64> {{ sui::balance::zero() }}
    fun zero(): std::uq32_32::UQ32_32 {{ std::uq32_32::from_int(0) }}
    #[test, expected_failure(abort_code = {error})]
    fun fails() {{ {code} }}
    """
    assert run(body)["fails"].verdict is Verdict.PASS


def test_an_expectation_that_is_not_known_is_an_error(run):
    body = "#[test, expected_failure(major_status = 4004)] fun status() { abort 2 }"
    assert run(body)["status"].verdict is Verdict.ERROR


def test_our_own_package_passes_its_tests(builder, request):
    package = request.config.rootpath / "move" / "nexus_tools"
    build = build_tests(builder, read_sources(package))
    results = list(MoveTestRunner(build, seed=0).run(build.tests))
    assert len(results) >= 177
    assert [result.test.title for result in results if result.verdict is not Verdict.PASS] == []


def test_a_test_may_look_at_more_dynamic_fields_than_a_transaction_that_pays_gas(run):
    """As in Sui's own runner, whose tests pay no gas."""
    body = """
    #[test] fun looks() {
        let ctx = &mut tx_context::dummy();
        let table = sui::table::new<u64, u64>(ctx);
        1_500u64.do!(|key| assert!(!table.contains(key)));
        table.destroy_empty();
    }
    """
    assert run(body, gas_limit=10**12)["looks"].verdict is Verdict.PASS
