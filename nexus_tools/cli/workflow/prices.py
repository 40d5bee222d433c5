"""Options that set prices, or maximum prices, of tools in a workflow."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import AMOUNT
from nexus_tools.errors import UsageError
from nexus_tools.sui.support.suggestions import suggestion

if TYPE_CHECKING:
    from nexus_tools.workflow import Document


_MOST_LISTED = 10


def read_prices(option: str, texts: Sequence[str]) -> dict[str, int]:
    """Parse the values of an option into MIST by name. Raises `price_malformed`."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals or not name:
            message = f"expected {option} NAME=SUI, got {text[:80]!r}"
            hint = f"Write for example {option} xyz.example.sum@1=0.5."
            raise UsageError("price_malformed", message, hint=hint)
        found[name] = AMOUNT.convert(amount, None, None)
    return found


def by_tool(option: str, document: "Document", prices: Mapping[str, int]) -> dict[str, int]:
    """Convert prices by FQN or vertex to prices by FQN. Raises `tool_unknown`."""
    fqns = {vertex.name: vertex.fqn for vertex in document.vertices}
    fqns |= {fqn: fqn for fqn in fqns.values()}
    for name in prices.keys() - fqns.keys():
        shown = ", ".join([*list(fqns)[:_MOST_LISTED], *["…"][: len(fqns) > _MOST_LISTED]])
        hint = suggestion(name, fqns, otherwise=f"Use one of {shown}.")
        message = f"{option}: {name[:80]!r} is not a tool or a vertex of the workflow"
        raise UsageError("tool_unknown", message, hint=hint)
    return {fqns[name]: mist for name, mist in prices.items()}
