"""Cost of commands after short and long histories, and with few and many tools.

The chain is a localnet process with an invoked tool and one leader. `growth_history` sends real
requests and closings until the history has each of several lengths. After each length, the commands
run several times. A figure compares the longest history with the shortest history of the same run.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
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

Times = dict[str, list[float]]


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the times of commands at each length, and the node's CPU time for each command."""
    with chain.localnet_process(folder) as (network, node):
        history = History(network, home(folder))
        asyncio.run(history.prepare())
        seconds: dict[int, Times] = {}
        node_ms: dict[int, Times] = {}
        for length in INVOCATIONS:
            asyncio.run(history.invoke_until(length))
            commands = {**_HISTORY_COMMANDS, **history.commands()}
            seconds[length], node_ms[length] = _run_all(commands, node, folder)
            yield from _figures(f"after {length} invocations", seconds[length], node_ms[length])
        yield from _ratios(seconds, "invocations")
        for length in TOOLS:
            asyncio.run(history.register_until(length))
            seconds[-length], node_ms[-length] = _run_all(_TOOL_COMMANDS, node, folder)
            yield from _figures(f"with {length} tools", seconds[-length], node_ms[-length])
        yield from _ratios({length: seconds[-length] for length in TOOLS}, "tools")


def _run_all(
    commands: Mapping[str, Sequence[str]], node: Process, folder: Path
) -> tuple[Times, Times]:
    """Run the commands in turn. Return each command's seconds and the node's CPU time in ms."""
    seconds: Times = {name: [] for name in commands}
    node_ms: Times = {name: [] for name in commands}
    for round_number in range(ROUNDS + 1):  # the first round fills caches
        for name, arguments in commands.items():
            cpu_s, begin = node.cpu_s, perf_counter()
            run(nexus_tools(*arguments, "--json"), home(folder))
            if round_number:
                seconds[name].append(perf_counter() - begin)
                node_ms[name].append((node.cpu_s - cpu_s) * 1e3)
    return seconds, node_ms


def _figures(place: str, seconds: Times, node_ms: Times) -> Iterator[Figure]:
    for name, times in seconds.items():
        note = f"CPU of the node {median(node_ms[name]):.0f} ms"
        yield Figure(f"growth {name} {place}", median(times) * 1e3, "ms", note=note)


def _ratios(seconds: Mapping[int, Times], things: str) -> Iterator[Figure]:
    """Yield the ratio of the times at the last and the first length for each command."""
    (first, *_, last), lengths = [*seconds.values()], [*map(abs, seconds)]
    for name, times in last.items():
        ratio = median(times) / median(first[name])
        label = f"growth {name} from {lengths[0]} to {lengths[-1]} {things}"
        yield Figure(label, ratio, "times", target=at_most(MOST))
