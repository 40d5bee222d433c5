"""The memory of a network with many objects and transactions, and the time of snapshot and revert.

Each size is measured in a new process.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figure import Figure, at_most
from benchmarks.processes import python, started
from benchmarks.state_node import TRANSFERS as BATCH

SIZES = (1_000, 100_000)
ROUNDS = 20
MEMORY_MIB = 100
TRANSFERS = 100_000
GROWN_MIB = 30
REVERT_MS = 5

_NOTE = "each revert undoes one transaction"


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the memory and the revert time of each size, and the effect of many transfers."""
    for size in SIZES:
        with started(python("state_node", str(size)), folder / f"state-{size}.log") as node:
            node.line()
            memory = float(node.ask("memory"))
            times = [float(node.ask("revert")) * 1e3 for _ in range(ROUNDS)]
        yield Figure(f"state {size} objects", memory, "MiB", target=at_most(MEMORY_MIB))
        yield Figure(
            f"state {size} revert", median(times), "ms", target=at_most(REVERT_MS), note=_NOTE
        )
    with started(python("state_node", "0"), folder / "transfers.log") as node:
        node.line()
        before = float(node.ask("memory"))
        rates = [float(node.ask("transfers")) for _ in range(TRANSFERS // BATCH)]
        grown = float(node.ask("memory")) - before
    note = f"{rates[0]:.0f} per CPU second in the first batch, {rates[-1]:.0f} in the last"
    yield Figure(f"state {TRANSFERS} transfers", grown, "MiB", target=at_most(GROWN_MIB), note=note)
