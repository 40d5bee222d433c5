"""Upper bounds for the cost of a leader's transactions, after rebates.

They are measured on localnets of two protocol versions. The chain test of the laws compares each
transaction that it plays.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """The gas units of a transaction, without reads, computation and rewrites.

    There is one number for a closing and one for another transaction. The bound also has the
    storage
    that no fee for bytes covers.
    """

    closing_units: int
    step_units: int
    closing_mist: int
    step_mist: int


BOUNDS = {
    105: Bound(2_010, 1_240, 520_000, 180_000),
    140: Bound(1_000, 1_000, 420_000, 160_000),
}
PROTOCOLS = tuple(BOUNDS)
REFUSAL_UNITS, REFUSAL_MIST = 120, 20_000
"""The additional gas units of a refusal."""
CALL_UNITS = 250
"""The additional gas units of the Move function of these tests."""
HEAVY_EFFORT = 2_400
"""Beyond this effort in one transaction, gas costs more than the steps are paid separately."""
EFFORT_UNITS = {0: 0.35, HEAVY_EFFORT: 2.5, 5_000: 2.5, 8_000: 5.5, 12_000: 30}
"""The gas units of the effort of a transaction, beyond each of these bounds."""
BYTE_MIST = 7_676
"""Storage of a byte of an outcome, and what Sui keeps of it when it is rewritten."""


def gas_bound_mist(protocol, paid, gas_price=1_000):
    """Return the maximum cost of a transaction with this payment by the rules."""
    bound = BOUNDS[protocol]
    rewritten = max(paid.outcome_bytes, paid.rewritten_bytes)
    units = bound.closing_units if paid.is_closing else bound.step_units
    units += sum(entry * max(0, paid.effort - most) for most, entry in EFFORT_UNITS.items())
    units += REFUSAL_UNITS * paid.refusals + (CALL_UNITS if paid.call_mist else 0)
    units += 0.04 * paid.read_bytes + 0.028 * max(0, rewritten - 1_000)
    mist = bound.closing_mist if paid.is_closing else bound.step_mist
    mist += paid.stored_mist + REFUSAL_MIST * paid.refusals
    mist += paid.outcome_bytes * BYTE_MIST if paid.is_closing else 76 * paid.rewritten_bytes
    return int(units * gas_price) + mist


def margin_mist(protocol, paid, gas_price=1_000):
    """Return the minimum profit of a leader from such a transaction.

    The declared gas of an on-chain tool is excluded, because its function uses it.
    """
    called_mist = CALL_UNITS * gas_price if paid.call_mist else 0
    bound_mist = gas_bound_mist(protocol, paid, gas_price) - called_mist
    return paid.mist - paid.call_mist - bound_mist
