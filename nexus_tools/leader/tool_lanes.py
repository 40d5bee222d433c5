"""How many requests each tool may have at once, and whether it is being left alone."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from nexus_tools.leader.circuit_breaker import BreakerState, CircuitBreaker
from nexus_tools.leader.settings import LeaderSettings
from nexus_tools.sui.address import Address

_CAPACITY = 4_096


@dataclass(frozen=True, slots=True)
class Lane:
    """What one tool's requests share."""

    slots: asyncio.Semaphore
    breaker: CircuitBreaker


class ToolLanes:
    """The lanes of the tools that were called last."""

    def __init__(self, settings: LeaderSettings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._lanes: OrderedDict[Address, Lane] = OrderedDict()

    def of(self, tool: Address) -> Lane:
        """The lane of `tool`."""
        lane = self._lanes.get(tool)
        if lane is None:
            lane = self._lanes[tool] = self._new()
            if len(self._lanes) > _CAPACITY:
                self._lanes.popitem(last=False)
        self._lanes.move_to_end(tool)
        return lane

    def open_breakers(self) -> int:
        """How many tools are left alone now."""
        lanes = self._lanes.values()
        return sum(lane.breaker.state is BreakerState.OPEN for lane in lanes)

    def _new(self) -> Lane:
        settings = self._settings
        breaker = CircuitBreaker(
            settings.breaker_failures, settings.breaker_pause_ms / 1000, self._now
        )
        return Lane(asyncio.Semaphore(settings.max_concurrent_per_tool), breaker)
