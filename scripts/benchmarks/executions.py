"""The permanent cost of a workflow step, the funds that it locks temporarily, and its speed.

Localnet, tools and one Leader with one worker run as users run them. The costs include all
transactions of the owner and the worker, from the start to the owner's deletions.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.chain import SUI
from benchmarks.figure import Figure
from benchmarks.flow_stage import PROTOCOL, Ends, WorkflowSetup, flow_stage, text_of
from benchmarks.flows import branches, line
from nexus_tools.registry import Executions, PublishedWorkflow
from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import GasCostSummary

PROTOCOLS = (105, PROTOCOL)
SIZES = {"100 B": 100, "10 KB": 10_000}
STEPS = 10
CROWD = 60
CROWD_STEPS = 5
BRANCHES = 32
BRANCH_STEPS = 5
ALONE = 8
ROUNDS = 3
_BEYOND_TEXT = 200
"""The size of an outcome without its text, in bytes."""
_SMALL = 100
_TRANSACTIONS_AT_ONCE = 500


def measure(folder: Path) -> Iterator[Figure]:
    """Yield MIST per step under two protocol versions, then steps per second, then latency."""
    for protocol in PROTOCOLS:
        place = folder / str(protocol)
        stories = asyncio.run(_carry(place, protocol))
        for size, cost in _costs(place / "state", stories).items():
            name = f"executions {size}, protocol {protocol}:"
            note = f"one execution with {STEPS} sequential steps; the figure is in SUI per step"
            yield Figure(f"{name} gas", cost.gas / SUI, "SUI", note=note)
            yield Figure(f"{name} permanent storage cost", cost.storage / SUI, "SUI")
            yield Figure(f"{name} net", (cost.gas + cost.storage) / SUI, "SUI")
            yield Figure(f"{name} temporary deposit", cost.deposit / SUI, "SUI")
    speed = asyncio.run(_speed(folder / "speed"))
    note = f"{CROWD} executions with {CROWD_STEPS} steps each, started one after the other"
    yield Figure("executions in parallel: steps", speed.crowd, "/s", note=note)
    yield Figure(f"executions with {BRANCHES} branches: steps", speed.branches, "/s")
    yield Figure("executions latency with one step", speed.alone * 1e3, "ms")
    yield Figure("executions latency of each further step", speed.step * 1e3, "ms")


# --- Costs


@dataclass(frozen=True, slots=True)
class _Story:
    """The transactions that delimit an execution: its start, its first and its last cleanup."""

    began: Digest
    cleaned: Digest
    ended: Digest
    payers: frozenset[Address]


@dataclass(frozen=True, slots=True)
class _Cost:
    """MIST per step: the permanent cost, and the funds locked until the owner cleans up."""

    gas: float
    storage: float
    deposit: float


async def _carry(folder: Path, protocol: int) -> dict[str, _Story]:
    """Run an execution with values of each size, one after the other."""
    async with flow_stage(folder, protocol) as stage:
        workflow = await stage.publish(line(STEPS), "line")
        return {name: await _story(stage, workflow, size) for name, size in SIZES.items()}


async def _story(stage: WorkflowSetup, workflow: PublishedWorkflow, size: int) -> _Story:
    executions = Executions(stage.client, stage.deployment)
    async with stage.watching() as ends:
        begun = await executions.start(
            workflow, text_of(size), max_outcome_bytes=size + _BEYOND_TEXT
        )
        await ends.last([begun.execution])
    sent = (await executions.clean(begun.execution)).sent
    cleaned = [transaction.effects.transaction_digest for transaction in sent]
    payers = frozenset({stage.client.address, *stage.workers})
    return _Story(begun.sent.effects.transaction_digest, cleaned[0], cleaned[-1], payers)


def _costs(state: Path, stories: dict[str, _Story]) -> dict[str, _Cost]:
    """Return the cost of each execution, computed from the chain in a folder."""
    found: list[ExecutedTransaction] = []
    own, number = Node.open(state), 1
    try:
        while some := own.ledger.transactions(number, _TRANSACTIONS_AT_ONCE):
            found += some
            number += len(some)
    finally:
        own.close()
    places = {transaction.digest: place for place, transaction in enumerate(found)}

    def spent(story: _Story, until: int) -> GasCostSummary:
        total = GasCostSummary(0, 0, 0, 0)
        for transaction in found[places[story.began] : until]:
            if transaction.data.sender in story.payers:
                total += transaction.effects.gas_used
        return total

    return {
        size: _cost(spent(story, places[story.cleaned]), spent(story, places[story.ended] + 1))
        for size, story in stories.items()
    }


def _cost(before: GasCostSummary, after: GasCostSummary) -> _Cost:
    storage = after.storage_cost - after.storage_rebate
    deposit = before.storage_cost - before.storage_rebate
    return _Cost(after.computation_cost / STEPS, storage / STEPS, deposit / STEPS)


# --- Speed


@dataclass(frozen=True, slots=True)
class _Speed:
    """Speeds: steps per second of parallel executions and branches, and latencies in seconds.

    `alone` is the latency of an execution with one step, and `step` is the latency of each further
    step.
    """

    crowd: float
    branches: float
    alone: float
    step: float


async def _speed(folder: Path) -> _Speed:
    async with flow_stage(folder) as stage, stage.watching() as ends:
        pace = _Pace(stage, ends)
        one, ten = await stage.publish(line(1), "one"), await stage.publish(line(STEPS), "ten")
        crowd = await stage.publish(line(CROWD_STEPS), "crowd")
        wide = await stage.publish(branches(BRANCHES, BRANCH_STEPS), "wide")
        alone = await pace.alone(one)
        more = (await pace.alone(ten) - alone) / (STEPS - 1)
        many = [await pace.seconds(crowd, CROWD) for _ in range(ROUNDS)]
        within = [await pace.seconds(wide, 1) for _ in range(ROUNDS)]
    in_wide = 1 + BRANCHES * BRANCH_STEPS
    return _Speed(CROWD * CROWD_STEPS / median(many), in_wide / median(within), alone, more)


@dataclass(frozen=True, slots=True)
class _Pace:
    stage: WorkflowSetup
    ends: Ends

    async def alone(self, workflow: PublishedWorkflow) -> float:
        """Return the seconds of a single execution."""
        # The first executions fill the Leader's caches.
        return median([await self.seconds(workflow, 1) for _ in range(ALONE)][2:])

    async def seconds(self, workflow: PublishedWorkflow, count: int) -> float:
        """Return the time until `count` executions have started and ended."""
        executions = Executions(self.stage.client, self.stage.deployment)
        inputs, leaders = text_of(_SMALL), self.stage.leaders
        begin = perf_counter()
        begun = [await executions.start(workflow, inputs, leaders=leaders) for _ in range(count)]
        return await self.ends.last([story.execution for story in begun]) - begin
