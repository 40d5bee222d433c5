"""`nexus-tools package test`: the unit tests of a Move package."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.output import plain
from nexus_tools.cli.session import Session
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.localnet.move_test import MoveTest, MoveTestResult, MoveTestRunner

_SEED_BITS = 32


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tests to run, and how: those with `names` in their titles, or a list of them."""

    names: str
    listed: bool
    timeout_s: float
    gas_limit: int
    seed: int | None


def run_package_tests(session: Session, folder: Path, selection: Selection) -> None:
    """Run the tests of the package in `folder`, or list them.

    Raises `ValidationError` if one does not pass.
    """
    from nexus_tools.localnet.compiler import (  # noqa: PLC0415 - not for `--help`
        MoveBuilder,
        install_builder,
        read_sources,
    )
    from nexus_tools.localnet.move_test import MoveTestRunner, build_tests  # noqa: PLC0415

    cache = session.settings.cache_directory
    with session.output.progress(f"compiling {folder}"):
        builder = MoveBuilder(install_builder(cache / "sui-move-builder"), cache / "wasmtime")
        build = build_tests(builder, read_sources(folder))
    tests = [test for test in build.tests if selection.names in test.title]
    if selection.listed:
        _list(session, tests)
        return
    seed = _seed(session, selection.seed, tests)
    runner = MoveTestRunner(
        build, seed=seed or 0, timeout_s=selection.timeout_s, gas_limit=selection.gas_limit
    )
    _report(session, _run(session, runner, tests), seed)


def _seed(session: Session, given: int | None, tests: Sequence["MoveTest"]) -> int | None:
    """The seed of random tests, which is printed; None if there are none."""
    if not any(test.is_random for test in tests):
        return None
    seed = secrets.randbits(_SEED_BITS) if given is None else given
    session.output.note(f"random tests use the seed {seed}")
    return seed


def _list(session: Session, tests: Sequence["MoveTest"]) -> None:
    rows = [{"test": test.title, "file": test.path, "line": test.line} for test in tests]
    columns = {"test": "Test", "file": "File", "line": "Line"}
    session.output.table(rows, columns, empty="there are no such tests")


def _run(
    session: Session, runner: "MoveTestRunner", tests: Sequence["MoveTest"]
) -> list["MoveTestResult"]:
    from nexus_tools.localnet.move_test import result_line  # noqa: PLC0415

    results = []
    for result in runner.run(tests):
        if not session.output.as_json:
            click.echo(plain(result_line(result)))
        results.append(result)
    return results


def _report(session: Session, results: Sequence["MoveTestResult"], seed: int | None) -> None:
    from nexus_tools.localnet.move_test import (  # noqa: PLC0415
        Verdict,
        failure_lines,
        result_record,
        summary_line,
    )

    failed = [result for result in results if result.verdict is not Verdict.PASS]
    if session.output.as_json:
        session.output.document({"seed": seed, "tests": [result_record(one) for one in results]})
    else:
        for result in failed:
            click.echo()
            for line in failure_lines(result):
                click.echo(plain(line))
    if not results:
        session.output.note("there are no such tests")
    elif failed:
        raise ValidationError("move_tests_failed", summary_line(results))
    session.output.done(summary_line(results))
