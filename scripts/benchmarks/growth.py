"""Cost of commands after short and long histories, and with few and many tools.

The chain is a localnet process with an invoked tool and several leaders. `growth_history` sends
real requests and closings until the history has each of several lengths. After each length, the
commands run several times. A figure compares the longest history with the shortest history of the
same run. Notes show the CPU times, because other work on the machine hardly changes them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
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
ROUNDS = 5
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


@dataclass(slots=True)
class _Runs:
    """The runs of one command: seconds, and CPU milliseconds of the command and of the node."""

    seconds: list[float] = field(default_factory=list)
    command_ms: list[float] = field(default_factory=list)
    node_ms: list[float] = field(default_factory=list)


Runs = dict[str, _Runs]


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the times of commands at each length, and their ratios at the last and first length."""
    with chain.localnet_process(folder) as (network, node):
        history = History(network, home(folder))
        asyncio.run(history.prepare())
        by_length: dict[int, Runs] = {}
        for length in INVOCATIONS:
            asyncio.run(history.invoke_until(length))
            commands = {**_HISTORY_COMMANDS, **history.commands()}
            by_length[length] = _run_all(commands, node, folder)
            yield from _figures(f"after {length} invocations", by_length[length])
        yield from _ratios(by_length, "invocations")
        by_length = {}
        for length in TOOLS:
            asyncio.run(history.register_until(length))
            by_length[length] = _run_all(_TOOL_COMMANDS, node, folder)
            yield from _figures(f"with {length} tools", by_length[length])
        yield from _ratios(by_length, "tools")


def _run_all(commands: Mapping[str, Sequence[str]], node: Process, folder: Path) -> Runs:
    """Run the commands several times in turn."""
    runs = {name: _Runs() for name in commands}
    for round_number in range(ROUNDS + 1):  # the first round fills caches
        for name, arguments in commands.items():
            node_s, own_s, begin = node.cpu_s, children_cpu_s(), perf_counter()
            run(nexus_tools(*arguments, "--json"), home(folder))
            if round_number:
                runs[name].seconds.append(perf_counter() - begin)
                runs[name].command_ms.append((children_cpu_s() - own_s) * 1e3)
                runs[name].node_ms.append((node.cpu_s - node_s) * 1e3)
    return runs


def children_cpu_s() -> float:
    """Return the CPU seconds of the processes that have ended. The node is not one of them."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _figures(place: str, runs: Runs) -> Iterator[Figure]:
    for name, of_command in runs.items():
        own_ms, node_ms = median(of_command.command_ms), median(of_command.node_ms)
        note = f"CPU of the command {own_ms:.0f} ms, of the node {node_ms:.0f} ms"
        yield Figure(f"growth {name} {place}", median(of_command.seconds) * 1e3, "ms", note=note)


def _ratios(by_length: Mapping[int, Runs], things: str) -> Iterator[Figure]:
    """Yield the ratio of the times at the last and the first length for each command."""
    (first, *_, last), lengths = [*by_length.values()], [*by_length]
    for name in last:
        before, after = first[name], last[name]
        cpu = median(after.command_ms) / median(before.command_ms)
        node_ms = median(before.node_ms), median(after.node_ms)
        yield Figure(
            f"growth {name} from {lengths[0]} to {lengths[-1]} {things}",
            median(after.seconds) / median(before.seconds),
            "times",
            target=at_most(MOST),
            note=f"CPU {cpu:.2f} times, CPU of the node {node_ms[0]:.0f} and {node_ms[1]:.0f} ms",
        )
