"""Repeated kills of Leaders, tools and the node, and the balance check afterwards."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import cycle
from pathlib import Path
from time import monotonic

from benchmarks import chain
from benchmarks.node import Node
from benchmarks.processes import started
from benchmarks.stage import Stage
from fuzzing.money import lost_mist
from nexus_tools.sui.localnet import node as localnet_node

LEADERS = ("ann", "bob", "eve")
LEADER_DIES_EVERY_S = 3.0
TOOLS_DIE_EVERY_S = 20.0
NODE_DIES_AFTER_S = (20.0, 50.0)
NODE_IS_AWAY_S = 1.0
_TRANSACTIONS_AT_ONCE = 500


class Service:
    """A process that can be killed and restarted, always with the same command."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self._how = command, log, environment
        self._running = ExitStack()

    def start(self) -> None:
        """Start the process. `process` is the running process."""
        self.process = self._running.enter_context(started(*self._how))

    def end(self) -> None:
        """Stop the process as an operator does."""
        self._running.close()

    def kill(self) -> None:
        """Kill the process before it can write anything."""
        self.process.send(signal.SIGKILL)
        self.end()

    def revive(self) -> None:
        """Kill the process, and restart it."""
        self.kill()
        self.start()


async def register_leader(stage: Stage, folder: Path, name: str) -> Sequence[str]:
    """Register a leader with two workers and a signing key. Return the command of the Leader."""
    second = f"{name}-2"
    await stage.new_wallet(name, 100 * chain.SUI)
    await stage.new_wallet(second, chain.SUI)
    key = str(folder / f"{name}.pem")
    await stage.command("leader", "key", "new", key)
    workers = ("--worker", name, "--worker", second)
    await stage.register_leader(name, *workers, "--key", key)
    return stage.lead(name, *workers)


@asynccontextmanager
async def weather(
    own: Node,
    folder: Path,
    leaders: Sequence[Service],
    tools: Service,
    killed: Counter[str],
) -> AsyncIterator[None]:
    """Kill and restart Leaders, tools and the node repeatedly until the block ends."""
    next_leader = cycle(leaders)

    async def every(seconds: float, what: str, revive: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(revive)
            killed[what] += 1

    async def node_dies() -> None:
        began = monotonic()
        for moment in NODE_DIES_AFTER_S:
            await asyncio.sleep(began + moment - monotonic())
            await asyncio.to_thread(own.kill)
            await asyncio.sleep(NODE_IS_AWAY_S)
            await asyncio.to_thread(own.start, folder / "state")
            killed["node"] += 1

    strikes = [
        asyncio.create_task(
            every(LEADER_DIES_EVERY_S, "leaders", lambda: next(next_leader).revive())
        ),
        asyncio.create_task(every(TOOLS_DIE_EVERY_S, "tools", tools.revive)),
        asyncio.create_task(node_dies()),
    ]
    try:
        yield
    finally:
        for strike in strikes:
            strike.cancel()
        await asyncio.wait(strikes)


def all_lost_mist(state: Path) -> tuple[int, int]:
    """Return the total loss of MIST in all transactions except genesis, and their number."""
    own = localnet_node.Node.open(state)
    lost, number = 0, 1
    try:
        while found := own.ledger.transactions(number, _TRANSACTIONS_AT_ONCE):
            lost += sum(abs(lost_mist(own, transaction)) for transaction in found)
            number += len(found)
    finally:
        own.close()
    return lost, number - 1
