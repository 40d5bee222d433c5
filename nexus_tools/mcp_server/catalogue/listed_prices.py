"""The prices that clients have seen, so that no client pays a higher price without notice."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from nexus_tools.errors import WrongStateError
from nexus_tools.mcp_server.receipt import Receipt
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolFqn


@dataclass(frozen=True, slots=True)
class _Increase:
    """The price that was listed before a higher price, and the time at which clients saw that."""

    listed_mist: int
    seen_s: float


class ListedPrices:
    """The listed prices of tools and the listed initial funds of workflow executions, in MIST."""

    def __init__(self) -> None:
        self._known: dict[ToolFqn, int] = {}
        self._increases: dict[ToolFqn, _Increase] = {}

    def record(self, prices_mist: Mapping[ToolFqn, int]) -> None:
        """Record the prices that are listed now."""
        for fqn, price_mist in prices_mist.items():
            listed_mist = self._known.get(fqn, price_mist)
            if price_mist > listed_mist:
                self._increases[fqn] = _Increase(listed_mist, time.monotonic())
            self._known[fqn] = price_mist

    def check(self, fqn: ToolFqn, price_mist: int) -> None:
        """Raise an error before a call at a price above the listed price.

        The error reports the new price, so a later call at that price is accepted. A call that
        started before the report is refused too, because clients send calls in parallel.

        Raises:
            WrongStateError: with code `price_increased`.
        """
        started_s = Receipt.current().started_s
        self.record({fqn: price_mist})
        increase = self._increases.get(fqn)
        if increase is None or started_s > increase.seen_s:
            return
        if price_mist > increase.listed_mist:
            raise WrongStateError(
                "price_increased",
                f"a call of {fqn} now costs {units.sui(price_mist)}, but the listed price was"
                f" {units.sui(increase.listed_mist)}",
                hint="Call it again to accept the new price.",
                details={"price_mist": price_mist, "listed_mist": increase.listed_mist},
            )
