"""The command `nexus-tools package test`, which runs unit tests of a Move package."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, offline_command, plain
from nexus_tools.cli.package.compiler import FOLDER, Compilation, compilation_options, our_sources
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.move_test import (
        Coverage,
        MoveTest,
        MoveTestResult,
        MoveTestRunner,
    )

_SEED_BITS = 32
_COVERAGE_COLUMNS = {
    "module": "Module",
    "lines": "Lines",
    "covered": "Covered",
    "percent": "%",
    "missed": "Missed lines",
}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options of a test run. `names` selects tests by a part of their titles.

    `covers` enables line coverage. `coverage_report` is the path of the LCOV file to write.
    """

    names: str
    listed: bool
    timeout_s: float
    gas_limit: int | None
    seed: int | None
    covers: bool = False
    coverage_report: Path | None = None


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option(
    "--filter", "names", default="", help="Run only tests whose module::name contains this text."
)
@click.option("--list", "listed", is_flag=True, help="List the tests without running them.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Maximum time of one test, in seconds.",
)
@click.option(
    "--gas-limit",
    type=click.IntRange(min=1),
    show_default="10^12",
    help="Maximum internal gas units of one test.",
)
@click.option("--seed", type=int, help="Seed for the arguments of random tests.")
@click.option("--coverage", is_flag=True, help="Show line coverage.")
@click.option(
    "--coverage-report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write line coverage to this file, as LCOV.",
)
@compilation_options
@offline_command
def command(
    session: Session,
    folder: Path | None,
    *,
    names: str,
    listed: bool,
    timeout: float,
    gas_limit: int | None,
    seed: int | None,
    coverage: bool,
    coverage_report: Path | None,
    compilation: Compilation,
) -> None:
    """Run the unit tests of the Move package in FOLDER. Default: the tool package of nexus-tools.

    The tests run in the VM of the localnet. `npm` downloads the compiler at the first use.
    """
    wanted = _Wanted(
        names,
        listed,
        timeout,
        gas_limit,
        seed,
        covers=coverage or coverage_report is not None,
        coverage_report=coverage_report,
    )
    _run_tests(session, folder or our_sources(), wanted, compilation)


def _run_tests(session: Session, folder: Path, wanted: _Wanted, compilation: Compilation) -> None:
    """Run or list the tests of the package in `folder`.

    Raises `ValidationError` if a test fails.
    """
    from nexus_tools.sui.localnet.compiler import read_package
    from nexus_tools.sui.localnet.move_test import (
        GAS_LIMIT,
        MoveTestRunner,
        build_dependencies,
        build_marked,
        build_tests,
    )

    with session.output.progress(f"compiling {folder}"):
        builder = compilation.builder(session)
        package = read_package(folder, for_tests=True, checkouts=compilation.checkouts)
        dependencies = build_dependencies(builder, package.dependencies)
        build = build_tests(builder, package.sources, dependencies)
    tests = [test for test in build.tests if wanted.names in test.title]
    if wanted.listed:
        _list(session, tests)
        return
    seed = _seed(session, wanted.seed, tests)
    runner = MoveTestRunner(
        build,
        seed=seed or 0,
        timeout_s=wanted.timeout_s,
        gas_limit=wanted.gas_limit or GAS_LIMIT,
        marked=partial(build_marked, builder, package.sources, dependencies),
        covers=wanted.covers,
    )
    results = _run(session, runner, tests)
    coverage = runner.coverage() if wanted.covers else None
    _report(session, results, seed, coverage)
    if coverage is not None and wanted.coverage_report is not None:
        _write_lcov(session, coverage, folder, wanted.coverage_report)
    _judge(session, results)


def _seed(session: Session, given: int | None, tests: Sequence["MoveTest"]) -> int | None:
    """Return and print the seed of random tests, or None if no test is random."""
    if not any(test.is_random for test in tests):
        return None
    seed = secrets.randbits(_SEED_BITS) if given is None else given
    session.output.note(f"random tests use the seed {seed}")
    return seed


def _list(session: Session, tests: Sequence["MoveTest"]) -> None:
    rows = [{"test": test.title, "file": test.path, "line": test.line} for test in tests]
    columns = {"test": "Test", "file": "File", "line": "Line"}
    session.output.table(rows, columns, empty="no matching tests")


def _run(
    session: Session, runner: "MoveTestRunner", tests: Sequence["MoveTest"]
) -> list["MoveTestResult"]:
    from nexus_tools.sui.localnet.move_test import result_line

    results = []
    for result in runner.run(tests):
        if not session.output.as_json:
            click.echo(plain(result_line(result)))
        results.append(result)
    return results


def _report(
    session: Session,
    results: Sequence["MoveTestResult"],
    seed: int | None,
    coverage: "Coverage | None",
) -> None:
    from nexus_tools.sui.localnet.move_test import (
        coverage_record,
        coverage_rows,
        failure_lines,
        result_record,
    )

    if session.output.as_json:
        tests = [result_record(result) for result in results]
        document: dict[str, Any] = {"seed": seed, "tests": tests}
        if coverage is not None:
            document["coverage"] = coverage_record(coverage)
        session.output.document(document)
        return
    for result in _failed(results):
        click.echo()
        for line in failure_lines(result):
            click.echo(plain(line))
    if coverage is not None:
        click.echo()
        session.output.table(coverage_rows(coverage), _COVERAGE_COLUMNS, empty="")


def _failed(results: Sequence["MoveTestResult"]) -> list["MoveTestResult"]:
    from nexus_tools.sui.localnet.move_test import Verdict

    return [result for result in results if result.verdict is not Verdict.PASS]


def _write_lcov(session: Session, coverage: "Coverage", folder: Path, target: Path) -> None:
    from nexus_tools.sui.localnet.move_test import coverage_lcov

    target.write_text(coverage_lcov(coverage, folder), "utf-8")
    session.output.note(f"wrote coverage to {target}")


def _judge(session: Session, results: Sequence["MoveTestResult"]) -> None:
    from nexus_tools.sui.localnet.move_test import summary_line

    if not results:
        session.output.note("no matching tests")
    elif _failed(results):
        raise ValidationError("move_tests_failed", summary_line(results))
    session.output.done(summary_line(results))
