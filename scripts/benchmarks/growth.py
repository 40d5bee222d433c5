"""Cost of commands after short and long histories, and with few and many tools.

Two chains are localnet processes, each with an invoked tool and several leaders. `growth_history`
sends real requests and closings. The first chain keeps the shortest history, and the second chain
grows to each of several lengths. At each length, the commands run on both chains in turn, so that
a figure compares them at the same time on the same machine. Notes show the CPU times, because other
work on the machine hardly changes them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

from benchmarks import chain
from benchmarks.figure import Figure, at_most
from benchmarks.growth_history import History
from benchmarks.processes import Process, home, nexus_tools, run

INVOCATIONS = (100, 1_000, 20_000, 200_000)
TOOLS = (1_000, 50_000, 300_000)
ROUNDS = 9
MOST = 1.3
"""The target: the ratio of the times at the last and the first length."""

_HISTORY_COMMANDS = {
    "leader list": ("leader", "list"),
    "status": ("status",),
    "invocation list": ("invocation", "list"),
    "question list": ("question", "list"),
    "workflow executions": ("workflow", "executions"),
    "schedule list": ("schedule", "list"),
}
_TOOL_COMMANDS = {
    "tool list --limit 20": ("tool", "list", "--limit", "20"),
    "status with many tools": ("status",),
}


@dataclass(frozen=True)
class _Chain:
    """A localnet process with its history, and the folder of the commands that use it."""

    node: Process
    folder: Path
    history: History


@dataclass(slots=True)
class _Runs:
    """The runs of one command: seconds, and CPU milliseconds of the command and of the node."""

    seconds: list[float] = field(default_factory=list)
    command_ms: list[float] = field(default_factory=list)
    node_ms: list[float] = field(default_factory=list)

    def add(self, command: Sequence[str], chain_: _Chain) -> None:
        """Run the command once."""
        node_s, own_s, begin = chain_.node.cpu_s, children_cpu_s(), perf_counter()
        run(nexus_tools(*command, "--json"), home(chain_.folder))
        self.seconds.append(perf_counter() - begin)
        self.command_ms.append((children_cpu_s() - own_s) * 1e3)
        self.node_ms.append((chain_.node.cpu_s - node_s) * 1e3)


Commands = Mapping[str, Sequence[str]]


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the times of commands at each length, and their ratios to the shortest length."""
    with _chain(folder / "short") as short, _chain(folder / "long") as long:
        asyncio.run(short.history.invoke_until(INVOCATIONS[0]))
        for length in INVOCATIONS[1:]:
            asyncio.run(long.history.invoke_until(length))
            commands = [{**_HISTORY_COMMANDS, **each.history.commands()} for each in (short, long)]
            sizes = f"from {INVOCATIONS[0]} to {length} invocations"
            yield from _figures(sizes, (short, commands[0]), (long, commands[1]))
        asyncio.run(short.history.register_until(TOOLS[0]))
        for length in TOOLS[1:]:
            asyncio.run(long.history.register_until(length))
            sizes = f"from {TOOLS[0]} to {length} tools"
            yield from _figures(sizes, (short, _TOOL_COMMANDS), (long, _TOOL_COMMANDS))


@contextmanager
def _chain(folder: Path) -> Iterator[_Chain]:
    folder.mkdir()
    with chain.localnet_process(folder) as (network, node):
        history = History(network, home(folder))
        asyncio.run(history.prepare())
        yield _Chain(node, folder, history)


def children_cpu_s() -> float:
    """Return the CPU seconds of the processes that have ended. The node is not one of them."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _figures(
    sizes: str, short: tuple[_Chain, Commands], long: tuple[_Chain, Commands]
) -> Iterator[Figure]:
    """Run each command on both chains in turn, and yield the ratios of their times."""
    for name, command in short[1].items():
        before, after = _Runs(), _Runs()
        for _ in range(ROUNDS):
            before.add(command, short[0])
            after.add(long[1][name], long[0])
        times_ms = [median(runs.seconds) * 1e3 for runs in (before, after)]
        cpu = median(after.command_ms) / median(before.command_ms)
        node_ms = [median(runs.node_ms) for runs in (before, after)]
        yield Figure(
            f"growth {name} {sizes}",
            times_ms[1] / times_ms[0],
            "times",
            target=at_most(MOST),
            note=f"{times_ms[0]:.0f} and {times_ms[1]:.0f} ms, CPU {cpu:.2f} times,"
            f" CPU of the node {node_ms[0]:.0f} and {node_ms[1]:.0f} ms",
        )
