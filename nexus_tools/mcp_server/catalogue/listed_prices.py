"""The prices that clients have seen, so that no client pays a higher price without notice."""

from collections.abc import Mapping

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolFqn


class ListedPrices:
    """The listed prices of tools and the listed initial funds of workflow executions, in MIST."""

    def __init__(self) -> None:
        self._known: dict[ToolFqn, int] = {}

    def record(self, prices_mist: Mapping[ToolFqn, int]) -> None:
        """Record the prices that are listed now."""
        self._known |= prices_mist

    def check(self, fqn: ToolFqn, price_mist: int) -> None:
        """Raise an error before a call at a price above the listed price.

        The error reports the new price, so the next call at that price is accepted.

        Raises:
            WrongStateError: with code `price_increased`.
        """
        listed_mist = self._known.get(fqn, price_mist)
        self._known[fqn] = price_mist
        if price_mist > listed_mist:
            raise WrongStateError(
                "price_increased",
                f"a call of {fqn} now costs {units.sui(price_mist)}, but the listed price was"
                f" {units.sui(listed_mist)}",
                hint="Call it again to accept the new price.",
                details={"price_mist": price_mist, "listed_mist": listed_mist},
            )
