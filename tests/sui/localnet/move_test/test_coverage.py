"""The lines that tests execute, counted by hand from the package `covered`."""

from bisect import bisect_left
from functools import partial
from pathlib import Path, PurePosixPath

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.move_test import (
    MoveTestRunner,
    Verdict,
    build_marked,
    build_tests,
    coverage_lcov,
    coverage_record,
    coverage_text_lines,
)
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import read_test_source
from nexus_tools.sui.localnet.move_test.compilation.markers import rejected_functions

COVERED = Path(__file__).parent / "covered"
SOURCES = read_sources(COVERED)


@pytest.fixture(scope="module")
def runner(builder):
    marked = partial(build_marked, builder, SOURCES)
    return MoveTestRunner(build_tests(builder, SOURCES), seed=1, marked=marked, covers=True)


@pytest.fixture(scope="module")
def results(runner, builder):
    tests = build_tests(builder, SOURCES).tests
    return {result.test.name: result for result in runner.run(tests)}


@pytest.fixture(scope="module")
def coverage(runner, results):
    assert len(results) == 3
    return runner.coverage()


@pytest.mark.long
def test_each_line_is_counted(coverage):
    (module,) = coverage.modules
    assert module.lines == {
        10: 1,  # the macro, in `perimeter`
        11: 1,
        15: 4,
        16: 0,
        17: 3,
        19: 1,
        20: 0,
        25: 3,
        28: 1,
        29: 0,
        31: 1,
        33: 1,
        37: 2,
        38: 2,
        39: 3,
        41: 1,
        45: 0,
        47: 0,
        50: 0,
    }


@pytest.mark.long
def test_missed_ranges_span_lines_without_statements(coverage):
    (module,) = coverage.modules
    assert module.missed() == [(16, 16), (20, 20), (29, 29), (45, 50)]
    assert (coverage.covered, coverage.lines) == (13, 19)


def test_functions_are_counted_except_test_only_ones(coverage):
    (module,) = coverage.modules
    assert {function.name: function.calls for function in module.functions} == {
        "twice": 1,
        "area": 4,
        "square": 3,
        "perimeter": 1,
        "total": 2,
        "unused": 0,
        "nothing": 0,
    }


def test_lcov_report(coverage):
    lines = coverage_lcov(coverage, PurePosixPath("move/covered")).splitlines()
    assert lines[:2] == ["TN:", "SF:move/covered/sources/shapes.move"]
    assert lines[2:4] == ["FN:9,covered::shapes::twice", "FN:14,covered::shapes::area"]
    assert "FNDA:4,covered::shapes::area" in lines
    assert lines[lines.index("FNF:7") + 1] == "FNH:5"
    assert "DA:16,0" in lines
    assert "DA:17,3" in lines
    assert lines[-3:] == ["LF:19", "LH:13", "end_of_record"]


def test_text_report_lists_missed_lines(coverage):
    assert list(coverage_text_lines(coverage)) == [
        "  68.4 % of    19 lines  covered::shapes  missed: 16, 20, 29, 45-50",
        "  68.4 % of    19 lines  total",
    ]


def test_json_coverage_report(coverage):
    record = coverage_record(coverage)
    (module,) = record["modules"]
    assert (record["lines"], record["covered"], record["percent"]) == (19, 13, 68.4)
    assert module["file"] == "sources/shapes.move"
    assert module["missed"] == [[16, 16], [20, 20], [29, 29], [45, 50]]
    assert module["hits"]["17"] == 3
    assert module["functions"]["area"] == 4


def test_each_frame_of_failure_has_its_line(results):
    explanation = results["an_area_can_be_too_large"].explanation
    assert explanation.failure.kind == "ARITHMETIC_ERROR"
    assert (explanation.path, explanation.line) == ("sources/shapes.move", 19)
    assert explanation.stack == (
        "covered::shapes::area (sources/shapes.move:19)",
        "covered::shapes::total (sources/shapes.move:39)",
        "covered::shapes_tests::an_area_can_be_too_large (tests/shapes_tests.move:21)",
    )


def source(body):
    manifest = SOURCES["Move.toml"]
    return {"Move.toml": manifest, "sources/m.move": f"module covered::m;\n{body}\n"}


def run(builder, body, **options):
    sources = source(body)
    marked = partial(build_marked, builder, sources)
    build = build_tests(builder, sources)
    runner = MoveTestRunner(build, seed=1, marked=marked, covers=True, **options)
    return {result.test.name: result for result in runner.run(build.tests)}, runner


@pytest.mark.long
def test_markers_do_not_count_against_instruction_limit(builder):
    body = "#[test] fun counts() { let mut i = 0u64; while (i < 100) { i = i + 1; }; }"
    build = build_tests(builder, source(body))

    def passes(limit):
        (result,) = MoveTestRunner(build, seed=1, gas_limit=limit).run(build.tests)
        return result.verdict is Verdict.PASS

    enough = bisect_left(range(10**9), x=True, key=passes)
    for limit, verdict in ((enough, Verdict.PASS), (enough - 1, Verdict.FAIL)):
        results, _ = run(builder, body, gas_limit=limit)
        assert results["counts"].verdict is verdict


def test_expected_out_of_gas_passes_with_markers(builder):
    body = "#[test, expected_failure(out_of_gas)]\nfun spins() { loop {} }"
    results, _ = run(builder, body, gas_limit=1_000_000)
    assert results["spins"].verdict is Verdict.PASS


def test_line_of_out_of_gas_is_known(builder):
    body = "#[test]\nfun spins() {\n    let mut i = 0u64;\n    loop {\n        i = i ^ 1;\n    }\n}"
    results, _ = run(builder, body, gas_limit=1_000_000)
    assert results["spins"].explanation.stack == ("covered::m::spins (sources/m.move:6)",)


def test_failure_after_branches_has_line_of_its_statement(builder):
    body = """
    public fun pick(first: bool, list: &vector<u64>): u64 {
        let found =
            (if (first) {
                list[0]
            } else {
                list[1]
            }) - 9;
        found
    }
    #[test] fun picks() { pick(false, &vector[1, 2]); }
    """
    results, _ = run(builder, body)
    assert results["picks"].explanation.stack[0] == "covered::m::pick (sources/m.move:4)"


@pytest.mark.long
def test_package_that_fails_with_markers_runs_without_them(builder):
    """The package has a module with the same name as the markers' module."""
    sources = {
        "Move.toml": SOURCES["Move.toml"],
        "sources/m.move": "module covered::nexus_tools_lines;\npublic fun one(): u64 { 1 }\n"
        "#[test] fun ones() { assert!(one() == 1); }\n",
    }
    marked = build_marked(builder, sources)
    assert marked.statements == ()
    build = build_tests(builder, sources)
    runner = MoveTestRunner(build, seed=1, marked=lambda: marked, covers=True)
    assert [result.verdict for result in runner.run(build.tests)] == [Verdict.PASS]
    (module,) = runner.coverage().modules
    assert (module.lines, module.unmeasured) == ({}, ("one",))
    assert "not measured: one" in next(coverage_text_lines(runner.coverage()))


def test_rejected_function_is_found_in_compiler_output(builder):
    body = "public fun good(): u64 { 1 }\npublic fun bad(): u64 {\n    let x = true;\n    x\n}"
    sources = source(body) | {"tests/n.move": "module covered::n;\nfun worse() { 1 }"}
    with pytest.raises(ValidationError) as refused:
        build_tests(builder, sources)
    read = {
        path: read_test_source(path, sources[path]) for path in sources if path.endswith(".move")
    }
    found = rejected_functions(str(refused.value), read)
    assert found == {("sources/m.move", 3), ("tests/n.move", 2)}


def test_modules_of_package_may_have_other_addresses(builder):
    sources = {
        "Move.toml": '[package]\nname = "two"\nedition = "2024"\n[addresses]\nown = "0x123"\n',
        "sources/a.move": "module own::a;\npublic fun one(): u64 {\n    1\n}\n",
        "sources/b.move": "module 0xB::b;\n#[test]\nfun ones() {\n    assert!(own::a::one() == 1);"
        "\n    abort own::a::one()\n}\n",
    }
    build = build_tests(builder, sources)
    marked = partial(build_marked, builder, sources)
    runner = MoveTestRunner(build, seed=1, marked=marked, covers=True)
    (result,) = runner.run(build.tests)
    assert result.explanation.failure.code == 1
    assert result.explanation.stack == ("0xB::b::ones (sources/b.move:5)",)
    assert runner.coverage().modules[0].lines == {3: 2}
