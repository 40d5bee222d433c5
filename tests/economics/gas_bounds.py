"""What the transactions of a leader cost at most, after rebates.

Measured on localnets of two protocol versions; the chain test of the laws compares each
transaction that it plays.
"""

from dataclasses import dataclass

from tests.economics.fee_rules import worked_units


@dataclass(frozen=True)
class Bound:
    """The gas units of a transaction that closes, and of another one, beyond what is read,
    computed and rewritten; and what it takes of storage that no fee for bytes covers."""

    closing_units: int
    step_units: int
    closing_mist: int
    step_mist: int


BOUNDS = {
    105: Bound(2_000, 1_200, 520_000, 180_000),
    140: Bound(1_000, 1_000, 420_000, 160_000),
}
PROTOCOLS = tuple(BOUNDS)
REFUSAL_UNITS, REFUSAL_MIST = 120, 20_000
"""What a refusal adds."""
BYTE_MIST = 7_676
"""Storage of a byte of an outcome, and what Sui keeps of it when it is rewritten."""


def gas_bound_mist(protocol, paid, gas_price=1_000):
    """The most that a transaction costs which the rules paid so."""
    bound = BOUNDS[protocol]
    rewritten = max(paid.outcome_bytes, paid.rewritten_bytes)
    units = bound.closing_units if paid.is_closing else bound.step_units
    units += worked_units(paid.effort) + REFUSAL_UNITS * paid.refusals
    units += 0.04 * paid.read_bytes + 0.028 * max(0, rewritten - 1_000)
    mist = bound.closing_mist if paid.is_closing else bound.step_mist
    mist += paid.stored_mist + paid.call_mist + REFUSAL_MIST * paid.refusals
    mist += paid.outcome_bytes * BYTE_MIST if paid.is_closing else 76 * paid.rewritten_bytes
    return int(units * gas_price) + mist


def margin_mist(protocol, paid, gas_price=1_000):
    """The least that such a transaction leaves to a leader."""
    return paid.mist - gas_bound_mist(protocol, paid, gas_price)
