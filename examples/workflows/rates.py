"""Euros in another currency: a workflow that retries, and then falls back to another tool.

Serve its tools with `nexus-tools tool serve examples/workflows/rates.py`. `RATES_URL` names the
document with the latest rates: `{"day": "2026-11-20", "rates": {"CHF": 0.95}}`.
"""

import json
import os
from urllib.request import urlopen

from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import Workflow

# The first reference rates of the European Central Bank.
KEPT_DAY = "1999-01-04"
KEPT_RATES = {"CHF": 1.6168, "GBP": 0.7111, "JPY": 133.73, "USD": 1.1789}


class Rate(Variant, name="ok"):
    """The value of one euro, and the day of the rate."""

    rate: float
    day: str


class Unknown(Variant, name="err_unknown"):
    """The currency does not have a rate."""

    reason: str


def rate_of(currency: str, rates: dict[str, float], day: str) -> Rate | Unknown:
    """Return the rate of a currency, if there is one."""
    if currency not in rates:
        return Unknown(reason=f"{currency} has no rate on {day}")
    return Rate(rate=rates[currency], day=day)


@tool("xyz.example.rates.latest@1")
def latest_rate(currency: str) -> Rate | Unknown:
    """Fetch the latest rate of a currency; fail if it is not available."""
    with urlopen(os.environ["RATES_URL"], timeout=3) as response:  # noqa: S310 - the operator's
        document = json.load(response)
    return rate_of(currency, document["rates"], document["day"])


@tool("xyz.example.rates.kept@1")
def kept_rate(currency: str) -> Rate | Unknown:
    """Return a stored rate of a currency, however old it is."""
    return rate_of(currency, KEPT_RATES, KEPT_DAY)


class Converted(Variant, name="ok"):
    """The amount in the other currency, and the day of its rate."""

    amount: float
    day: str


@tool("xyz.example.rates.convert@1")
def convert(euros: float, rate: float, day: str) -> Converted:
    """Convert euros at a rate, to two decimals."""
    return Converted(amount=round(euros * rate, 2), day=day)


flow = Workflow("xyz.example.rates.exchange@1", "Converts euros into another currency.")
euros, currency = flow.inputs(euros=float, currency=str)

latest = flow.add(latest_rate, currency=currency).retry(2, after=1)
kept = flow.add(kept_rate, currency=currency).after(latest.failed.reason)
converted = flow.add(
    convert,
    euros=euros,
    rate=flow.first(latest.ok.rate, kept.ok.rate),
    day=flow.first(latest.ok.day, kept.ok.day),
)
flow.output("amount", converted.ok.amount)
flow.output("day", converted.ok.day)
flow.output("refused", flow.first(latest.err_unknown.reason, kept.err_unknown.reason))
