"""What clients were told that calls cost: nobody pays more without having heard of it."""

from collections.abc import Mapping

from nexus_tools.errors import NotNowError
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolFqn


class ListedPrices:
    """The prices of tools, and what executions of workflows begin with, as clients know them."""

    def __init__(self) -> None:
        self._known: dict[ToolFqn, int] = {}

    def tell(self, prices_mist: Mapping[ToolFqn, int]) -> None:
        """Remember what is listed now."""
        self._known |= prices_mist

    def check(self, fqn: ToolFqn, price_mist: int) -> None:
        """Raise `price_raised` before a call at a price that nobody was told.

        It is told thereby: the next call is one by somebody who knows it.
        """
        listed_mist = self._known.get(fqn, price_mist)
        self._known[fqn] = price_mist
        if price_mist > listed_mist:
            raise NotNowError(
                "price_raised",
                f"a call of {fqn} takes {units.sui(price_mist)} now; it was listed with"
                f" {units.sui(listed_mist)}",
                hint="call it again if it is worth that",
                details={"price_mist": price_mist, "listed_mist": listed_mist},
            )
