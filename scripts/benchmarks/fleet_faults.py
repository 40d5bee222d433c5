"""The faults of a fleet. Each fault strikes again and again until it is cancelled."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from itertools import count
from time import monotonic

from benchmarks.fleet_stage import Fleet

Fault = Callable[[Fleet], Coroutine[object, object, None]]

FREEZE_S = 20.0
AWAY_S = 20.0
CUT_EVERY_S = 5.0
RESTART_EVERY_S = 10.0
SILENT_EVERY_S = 10.0

_FIRST_AFTER_S = 8.0
_BETWEEN_RESTARTS_S = 8.0


async def nothing(_: Fleet) -> None:
    """Do nothing."""


def killed_every(seconds: float, away_s: float = 0.0) -> Fault:
    """Return the fault that kills a process every few seconds, in turn, and restarts it.

    The restart follows after `away_s` seconds, which are less than `seconds`.
    """

    async def kill(fleet: Fleet) -> None:
        for number in count():
            await asyncio.sleep(seconds - away_s)
            service = fleet.services[number % len(fleet.services)]
            try:
                await _in_thread(service.kill)
                fleet.faults += 1
                await asyncio.sleep(away_s)
            finally:
                await _in_thread(service.start)

    return kill


async def frozen(fleet: Fleet) -> None:
    """Suspend the first process once. It is the holder, unless it has lost this role before."""
    await asyncio.sleep(_FIRST_AFTER_S)
    process = fleet.services[0].process
    process.send(signal.SIGSTOP)
    fleet.faults += 1
    try:
        await asyncio.sleep(FREEZE_S)
    finally:
        process.send(signal.SIGCONT)


async def cut(fleet: Fleet) -> None:
    """Reset all connections to PostgreSQL every few seconds."""
    while True:
        await asyncio.sleep(CUT_EVERY_S)
        for proxy in fleet.proxies:
            proxy.reset()
        fleet.faults += 1


async def silent(fleet: Fleet) -> None:
    """Make connections to PostgreSQL silent, and leave them open. New connections work.

    The connections are those of the holder, then those of another process, and then all of them.
    """
    for number in count():
        await asyncio.sleep(SILENT_EVERY_S)
        holder = await asyncio.to_thread(fleet.find_holder)
        other = (holder + 1) % len(fleet.proxies)
        victims = ([holder], [other], range(len(fleet.proxies)))
        for victim in victims[number % len(victims)]:
            fleet.proxies[victim].half_open()
        fleet.faults += 1


async def away(fleet: Fleet) -> None:
    """Restart PostgreSQL in two ways, and then stop it for a longer time."""
    await asyncio.sleep(_FIRST_AFTER_S)
    for mode, away_s in (("fast", 0.0), ("immediate", 0.0), ("fast", AWAY_S)):
        try:
            await _in_thread(fleet.postgres.stop, mode)
            fleet.faults += 1
            await asyncio.sleep(away_s)
        finally:
            await _in_thread(fleet.postgres.start)
        await asyncio.sleep(_BETWEEN_RESTARTS_S)


async def restarted(fleet: Fleet) -> None:
    """Restart the processes one after the other, as a deployment does.

    A restart lasts until the calls in flight have ended.
    """
    began = monotonic()
    for number in count():
        await asyncio.sleep(max(0.0, began + (number + 1) * RESTART_EVERY_S - monotonic()))
        await _in_thread(fleet.restart, number % len(fleet.services))
        fleet.faults += 1


async def _in_thread(function: Callable[..., None], *arguments: object) -> None:
    """Run a function in a thread. If the caller is cancelled, wait until the function returns."""
    running = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        await asyncio.shield(running)
    finally:
        await asyncio.wait({running})
