"""The duration of `nexus-tools --help`, compared with an empty Python program."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.figure import Figure, at_most, compared
from benchmarks.processes import nexus_tools
from benchmarks.rounds import interleaved

ROUNDS = 10
TARGET_MS = 200.0


def measure(folder: Path) -> Iterator[Figure]:
    """Yield one figure. Before the rounds, one run of each command fills the disk caches."""
    commands = {"help": nexus_tools("--help"), "bare": [sys.executable, "-c", "pass"]}
    for command in commands.values():
        _milliseconds(command, folder)
    times = interleaved(
        ROUNDS,
        {
            "help": lambda: _milliseconds(commands["help"], folder),
            "bare": lambda: _milliseconds(commands["bare"], folder),
        },
    )
    peers = {"python -c pass": times["bare"]}
    yield compared("help", "ms", times["help"], peers, target=at_most(TARGET_MS))


def _milliseconds(command: Sequence[str], folder: Path) -> float:
    begin = perf_counter()
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return (perf_counter() - begin) * 1_000
