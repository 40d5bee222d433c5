"""Options that set prices, or maximum prices, of tools in a workflow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import AMOUNT
from nexus_tools.errors import UsageError
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.support.units import sui

if TYPE_CHECKING:
    from nexus_tools.workflow import Document


_MOST_LISTED = 10


def read_prices(option: str, texts: Sequence[str]) -> list[tuple[str, int]]:
    """Parse the values of an option into names and MIST. Raises `price_malformed`."""
    found: list[tuple[str, int]] = []
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals or not name:
            message = f"expected {option} NAME=SUI, got {text[:80]!r}"
            hint = f"Write for example {option} xyz.example.sum@1=0.5."
            raise UsageError("price_malformed", message, hint=hint)
        found.append((name, AMOUNT.convert(amount, None, None)))
    return found


def by_tool(option: str, document: "Document", prices: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Convert prices by FQN or vertex to prices by FQN.

    Raises `tool_unknown`, or `price_conflict` if a tool has two prices.
    """
    fqns = {vertex.name: vertex.fqn for vertex in document.vertices}
    fqns |= {fqn: fqn for fqn in fqns.values()}
    found: dict[str, int] = {}
    for name, mist in prices:
        if name not in fqns:
            shown = ", ".join([*list(fqns)[:_MOST_LISTED], *["…"][: len(fqns) > _MOST_LISTED]])
            hint = suggestion(name, fqns, otherwise=f"Use one of {shown}.")
            message = f"{option}: {name[:80]!r} is not a tool or a vertex of the workflow"
            raise UsageError("tool_unknown", message, hint=hint)
        fqn = fqns[name]
        if found.setdefault(fqn, mist) != mist:
            raise UsageError(
                "price_conflict",
                f"{option} sets the price of {fqn} to {sui(found[fqn])} and to {sui(mist)}",
                hint=f"Pass {option} once for each tool. The price applies to all of its vertices.",
            )
    return found
