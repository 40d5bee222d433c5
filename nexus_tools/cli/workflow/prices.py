"""What tools of a workflow cost, or may cost, as options say it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import AMOUNT
from nexus_tools.errors import UsageError
from nexus_tools.sui.support.suggestions import suggestion

if TYPE_CHECKING:
    from nexus_tools.workflow import Document


_MOST_LISTED = 10


def read_prices(option: str, texts: Sequence[str]) -> dict[str, int]:
    """Amounts in MIST by the names that an option gives. Raises `price_malformed`."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals or not name:
            message = f"{option} {text[:80]} has no {'name' if equals else 'amount'}"
            hint = f"write {option} xyz.example.sum@1=0.5"
            raise UsageError("price_malformed", message, hint=hint)
        found[name] = AMOUNT.convert(amount, None, None)
    return found


def by_tool(option: str, document: "Document", prices: Mapping[str, int]) -> dict[str, int]:
    """The prices of tools by FQN, which are named so or as a vertex is. Raises `tool_unknown`."""
    fqns = {each.name: each.fqn for each in document.vertices}
    fqns |= {fqn: fqn for fqn in fqns.values()}
    for name in prices.keys() - fqns.keys():
        shown = ", ".join([*list(fqns)[:_MOST_LISTED], *["…"][: len(fqns) > _MOST_LISTED]])
        hint = suggestion(name, fqns, otherwise=f"there is {shown}")
        message = f"{option} {name[:80]}: the workflow has no such tool, and no such vertex"
        raise UsageError("tool_unknown", message, hint=hint)
    return {fqns[name]: mist for name, mist in prices.items()}
