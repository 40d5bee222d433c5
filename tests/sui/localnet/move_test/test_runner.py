"""The results of tests are the same as in Sui's runner.

The sample's verdicts are those of the unit-test runner of Sui 1.71.1 with the framework's sources,
which omits tests that take addresses.
"""

import pytest

from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.move_test import MoveTestRunner, Verdict, build_tests


def verdicts(results, module):
    return {title: result.verdict for title, result in results.items() if title.startswith(module)}


def test_valid_tests_pass(results):
    found = verdicts(results, "passing::")
    assert len(found) == 11
    assert set(found.values()) == {Verdict.PASS}


def test_expected_failures_pass(results):
    found = verdicts(results, "expecting::")
    assert len(found) == 14
    assert set(found.values()) == {Verdict.PASS}


def test_scenario_effects_match_sui_test_runner(results):
    found = verdicts(results, "effects::")
    assert len(found) == 11
    assert set(found.values()) == {Verdict.PASS}


def test_unexpected_failures_fail(results):
    found = verdicts(results, "failing::")
    assert len(found) == 10
    assert set(found.values()) == {Verdict.FAIL}


def test_abort_report_has_constant_line_and_call_stack(results):
    explanation = results["failing::aborts_with_a_constant"].explanation
    assert explanation.constant_name == ("sample::vault", "EEmpty")
    assert (explanation.path, explanation.line) == ("sources/vault.move", 31)
    assert explanation.stack == (
        "sample::vault::take (sources/vault.move:30)",
        "sample::failing::aborts_with_a_constant (tests/failing.move:9)",
    )


def test_assertion_without_code_is_reported_with_its_line(results):
    explanation = results["failing::asserts_without_a_code"].explanation
    assert (explanation.path, explanation.line) == ("tests/failing.move", 18)


def test_unequal_values_are_printed(results):
    assert results["failing::compares"].printed == ('"left"', '"right"')


def test_failing_random_test_reports_its_arguments(results):
    (number,) = eval(results["failing::is_not_always_small"].arguments)
    assert number >= 100


@pytest.mark.long
def test_same_seed_gives_same_arguments(run):
    body = "#[random_test] fun never(number: u256, list: vector<u64>) { abort 1 }"
    one, again, other = (run(body, seed=seed)["never"].arguments for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_endless_test_is_stopped(run):
    result = run("#[test] fun forever() { loop {} }", timeout_s=0.1, gas_limit=10**15)["forever"]
    assert result.verdict is Verdict.TIMEOUT


def test_with_unsupported_native_is_an_error(run):
    body = """
    native fun of_another_machine();
    #[test, expected_failure]
    fun calls() { of_another_machine() }
    """
    assert run(body)["calls"].verdict is Verdict.ERROR


def test_unknown_constant_is_an_error(run):
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
def test_framework_errors_are_known_by_name(run, error, code):
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


def test_unknown_expectation_is_an_error(run):
    body = "#[test, expected_failure(major_status = 4004)] fun status() { abort 2 }"
    assert run(body)["status"].verdict is Verdict.ERROR


@pytest.mark.long
def test_own_package_passes_its_tests(builder, request):
    package = request.config.rootpath / "move" / "nexus_tools"
    build = build_tests(builder, read_sources(package))
    results = list(MoveTestRunner(build, seed=0).run(build.tests))
    assert len(results) >= 177
    assert [result.test.title for result in results if result.verdict is not Verdict.PASS] == []


def test_may_read_more_dynamic_fields_than_a_paying_transaction(run):
    """Sui's own runner allows the same, because its tests pay no gas."""
    body = """
    #[test] fun looks() {
        let ctx = &mut tx_context::dummy();
        let table = sui::table::new<u64, u64>(ctx);
        1_500u64.do!(|key| assert!(!table.contains(key)));
        table.destroy_empty();
    }
    """
    assert run(body, gas_limit=10**12)["looks"].verdict is Verdict.PASS
