"""Measure the figures and print one table: `scripts/bench [NAME[:CASE]…] [OPTION]…`."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import monotonic
from types import FrameType

from benchmarks.figure import Figure, table

# The time limit of each part in seconds. The sum of the limits is the limit of a whole run.
PARTS = {
    "vm": 60,
    "transactions": 60,
    "verbs": 240,
    "ethereum": 180,
    "state": 900,
    "growth": 3600,
    "search": 600,
    "clock": 240,
    "invocations": 120,
    "fairness": 60,
    "server": 70,
    "signing": 90,
    "help": 20,
    "index": 900,
    "index_api": 300,
    "explorer": 900,
    "workflows": 60,
    "executions": 400,
    "schedules": 150,
    "faults": 240,
    "storm": 600,
    "workflow_storm": 600,
    "fleet": 2400,
}
WITH_INTENT_MODEL = ("index", "search")
"""The parts that can search with another intent model."""
FULL_FACTOR = 15
"""The factor by which the time limits are longer with `--full`."""


class OutOfTime(Exception):  # noqa: N818 - the name states the event
    """The error for a part that exceeded its time limit."""


def main() -> int:
    """Run the named parts, or all parts. Return 1 if a figure misses its target or a part fails.

    A part may consist of cases, which can be run alone.
    """
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"parts: {', '.join(PARTS)}; default: all")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--full", action="store_true", help="measure the largest sizes of parts that have some"
    )
    parser.add_argument(
        "--intent-model",
        metavar="FOLDER",
        help=f"the model for the search by intent, for {' and '.join(WITH_INTENT_MODEL)}",
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.name if not _is_known(name)]
    if unknown:
        parser.error(f"unknown figure {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    options = {}
    if arguments.intent_model is not None:
        if not arguments.name or set(arguments.name) - set(WITH_INTENT_MODEL):
            parser.error(f"--intent-model needs the parts {' or '.join(WITH_INTENT_MODEL)}")
        options = {"intent_model": arguments.intent_model}
    signal.signal(signal.SIGTERM, _interrupt)
    figures: list[Figure] = []
    failures: list[str] = []
    for name in arguments.name or PARTS:
        _run(name, figures, failures, options, is_full=arguments.full)
    if arguments.json:
        print(json.dumps({"figures": [f.as_json() for f in figures], "failures": failures}))
    else:
        print(table(figures), *failures, sep="\n")
    return 1 if failures or any(figure.is_met is False for figure in figures) else 0


def _is_known(name: str) -> bool:
    part, colon, case = name.partition(":")
    if part not in PARTS or not colon:
        return part in PARTS
    return case in getattr(import_module(f"benchmarks.{part}"), "CASES", ())


def _run(
    name: str,
    figures: list[Figure],
    failures: list[str],
    options: Mapping[str, str],
    *,
    is_full: bool,
) -> None:
    begin = monotonic()
    name, _, case = name.partition(":")
    part = import_module(f"benchmarks.{name}")
    cases = [[case]] if case else []
    measure = getattr(part, "measure_full", part.measure) if is_full else part.measure
    limit_s = PARTS[name] * (FULL_FACTOR if is_full else 1)
    try:
        with _time_limit(limit_s), tempfile.TemporaryDirectory(prefix="bench-") as folder:
            for figure in measure(Path(folder), *cases, **options):
                figures.append(figure)
                print(f"bench: {'  '.join(figure.row()[:2])}", file=sys.stderr, flush=True)
    except OutOfTime:
        failures.append(f"{name}: stopped after {limit_s} s")
    except Exception as error:  # noqa: BLE001 - the other parts can still be measured
        failures.append(f"{name}: {type(error).__name__}: {error}")
    print(f"bench: {name} took {monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
