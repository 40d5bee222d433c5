"""Compare every framework function in both VMs: `python -m differential SEED ROUNDS`."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from differential.comparison import Coverage, Differential
from differential.exposed_packages import framework


def main() -> int:
    """Compare and print coverage, omissions and differences. Return 1 for any difference."""
    seed, rounds = sys.argv[1:]
    packages = framework()
    comparing = Differential(packages, seed)
    coverages = [
        coverage
        for package, module in packages.modules()
        for coverage in comparing.compare_module(package, module, int(rounds))
    ]
    print("\n".join([*_table(coverages), *map(str, comparing.differences)]))
    return 1 if comparing.differences else 0


def _table(coverages: Iterable[Coverage]) -> Iterator[str]:
    coverages = list(coverages)
    compared = [one for one in coverages if one.compared]
    yield f"{len(coverages)} functions"
    yield f"{len(compared)} compared, {sum(one.compared for one in compared)} calls"
    yield f"{sum(one.succeeded > 0 for one in compared)} functions have a call that returns"
    causes = Counter(
        min(reason.cause for reason in one.reasons) for one in coverages if not one.compared
    )
    for cause, count in sorted(causes.items()):
        yield f"{count} not compared: {cause}"
    for one in coverages:
        if not one.compared:
            reasons = sorted(f"{reason.cause} {reason.detail}".strip() for reason in one.reasons)
            yield f"  {one.name}: {'; '.join(reasons)}"


if __name__ == "__main__":
    sys.exit(main())
