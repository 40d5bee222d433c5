"""Longer runs than the test suite has time for, and the table of what is compared."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from differential.framework import Coverage, Difference, Differential, framework
from differential.programs.comparing import Programs, Write
from differential.programs.source import framework_programs, language_programs
from nexus_tools.localnet.compiler import MoveBuilder, install_builder

_CACHE = Path(__file__).resolve().parents[2] / ".cache"
_PROGRAMS_OF_A_MODULE = 40
_ROUNDS = 4


def run(seed: int, count: int) -> list[str]:
    """Compare `count` programs, half of them over the framework; gives the differences, in words.

    The same for the same seed. What the compiler does not take is left out.
    """
    builder = MoveBuilder(install_builder(_CACHE / "sui-move-builder"), _CACHE / "wasmtime")
    programs = Programs(builder, framework())
    differences = []
    for number, start in enumerate(range(0, count, _PROGRAMS_OF_A_MODULE)):
        numbers = range(start, min(start + _PROGRAMS_OF_A_MODULE, count))
        write = (language_programs, framework_programs)[number % 2]
        differences += _compare(programs, write, str(seed + number), numbers)
    return differences


def _compare(programs: Programs, write: Write, seed: str, numbers: range) -> Iterator[str]:
    refused = set(programs.refused(write, seed, numbers))
    taken = [number for number in numbers if number not in refused]
    _, differences = programs.compare(write, seed, taken, _ROUNDS)
    for found in differences:
        name = write.__name__
        yield f"{name}({seed!r}, [{found.number}])\n{found.source}\n{told(found.difference)}"


def run_framework(seed: int, rounds: int) -> tuple[list[Coverage], list[str]]:
    """Compare every function of the framework: what is known of each, and the differences."""
    packages = framework()
    comparing = Differential(packages, str(seed))
    coverages = [
        coverage
        for package, module in packages.modules()
        for coverage in comparing.compare_module(package, module, rounds)
    ]
    return coverages, list(map(told, comparing.differences))


def told(difference: Difference) -> str:
    """A difference in words."""
    types = f"<{', '.join(difference.type_arguments)}>" if difference.type_arguments else ""
    return (
        f"{difference.name}{types}{difference.values}\n"
        f"  localnet: {difference.ours}\n  genuine:  {difference.genuine}"
    )


def table(coverages: Iterable[Coverage]) -> Iterator[str]:
    """How many functions are compared, and why each of the others is not."""
    coverages = list(coverages)
    compared = [one for one in coverages if one.compared]
    yield f"{len(coverages)} functions"
    yield f"{len(compared)} compared, {sum(one.compared for one in compared)} calls"
    yield f"{sum(one.succeeded > 0 for one in compared)} with a call that returns"
    causes = Counter(
        min(reason.cause for reason in one.reasons) for one in coverages if not one.compared
    )
    for cause, count in sorted(causes.items()):
        yield f"{count} not compared: {cause}"
    for one in coverages:
        if not one.compared:
            reasons = sorted(f"{reason.cause} {reason.detail}".strip() for reason in one.reasons)
            yield f"  {one.name}: {'; '.join(reasons)}"


def _told_of_framework(seed: int, rounds: int) -> Iterator[str]:
    coverages, differences = run_framework(seed, rounds)
    yield from table(coverages)
    yield from differences


COMMANDS: dict[str, Callable[[int, int], Iterable[str]]] = {
    "programs": run,
    "framework": _told_of_framework,
}
