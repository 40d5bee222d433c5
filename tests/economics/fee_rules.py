"""The fees of executions as pure arithmetic, by the settings of a new registry, in MIST.

Source: `attempt.move`, `terms.move`, `invocation.move` and `leader_registry.move`.
"""

from dataclasses import dataclass
from types import SimpleNamespace

from nexus_tools.workflow import MAX_STEP_EFFORT

BYTE_MIST, INPUT_BYTE_MIST = 7_600, 100
MAX_PORTS_BYTES = 65_536
MAX_READ_BYTES = 3 * MAX_PORTS_BYTES
CLOSING_UNITS, CLOSING_MIST, MARGIN_MIST = 1_000, 520_000, 2_000_000
STEP_UNITS, RECORD_BYTES = 1_060, 1_500
"""The gas units of the steps after a closing, and the bytes that `advance` rewrites."""
READ_UNITS, REWRITE_UNITS, COVERED_BYTES = 40, 25, 1_000
"""Gas units for 1 000 bytes that are read or rewritten, and the bytes that other fees cover."""
EFFORT_GAS = {0: 35, 2_000: 27, 3_200: 125, 5_000: 220}

SETTINGS = SimpleNamespace(
    fee_gas_units=CLOSING_UNITS,
    fee_storage_mist=CLOSING_MIST,
    settle_margin_mist=MARGIN_MIST,
    fee_per_input_byte_mist=INPUT_BYTE_MIST,
    fee_per_outcome_byte_mist=BYTE_MIST,
    max_ports_bytes=MAX_PORTS_BYTES,
)
"""The settings of a new registry, for `estimate_execution_cost`."""


@dataclass(frozen=True)
class Fees:
    """The payments of leaders at a gas price."""

    gas_price: int = 1_000

    def failing_mist(self, kept_bytes=0):
        """Return the fee for failing an attempt with `kept_bytes` of stored detail."""
        return CLOSING_UNITS * self.gas_price + CLOSING_MIST + kept_bytes * BYTE_MIST

    def settling_mist(self, outcome_bytes, read_bytes=0):
        """Return the fee for settling an attempt."""
        return self.failing_mist(outcome_bytes) + MARGIN_MIST // 2 + self.reading_mist(read_bytes)

    def reading_mist(self, read_bytes):
        """Return the fee for reading inputs on chain."""
        return read_bytes * READ_UNITS * self.gas_price // 1_000

    def refusing_mist(self):
        """Return the fee for determining that a run is refused."""
        return CLOSING_UNITS * self.gas_price + CLOSING_MIST + RECORD_BYTES * INPUT_BYTE_MIST

    def worked_mist(self, effort):
        """Return the fee for the effort of a step."""
        return hundredths_of(effort) * self.gas_price // 100

    def advancing_mist(self, outcome_bytes):
        """Return the fee for `advance`, which rewrites the outcome."""
        more = max(0, outcome_bytes - COVERED_BYTES)
        stored_mist = (RECORD_BYTES + more) * INPUT_BYTE_MIST
        rewritten_mist = more * REWRITE_UNITS * self.gas_price // 1_000
        return STEP_UNITS * self.gas_price + stored_mist + rewritten_mist

    def attempt_mist(self, kind, max_outcome_bytes):
        """Return the prepayment for an attempt of a tool of this kind."""
        more_mist = self.advancing_mist(max_outcome_bytes)
        more_mist += self.reading_mist(MAX_READ_BYTES) if kind.is_read else 0
        return kind.gas_mist + self.settling_mist(max_outcome_bytes) + more_mist


def hundredths_of(effort):
    """Return the hundredths of gas units that are paid for an effort."""
    effort = min(effort, MAX_STEP_EFFORT)
    return sum(price * max(0, effort - bound) for bound, price in EFFORT_GAS.items())


def worked_units(effort):
    """Return the gas units that are paid for an effort."""
    return hundredths_of(effort) / 100


@dataclass(frozen=True)
class ToolKind:
    """The way in which answers of a tool are settled.

    `invocation_bytes` is the size of its invocation in storage, `gas_mist` the declared gas of its
    Move function, and `is_read` says whether the chain reads the inputs.
    """

    invocation_bytes: int
    is_read: bool = False
    gas_mist: int = 0


@dataclass(slots=True)
class Paid:
    """The payment of one transaction, and the work that determines its gas."""

    fees_mist: int = 0
    stored_mist: int = 0
    effort: int = 0
    read_bytes: int = 0
    outcome_bytes: int = 0
    rewritten_bytes: int = 0
    call_mist: int = 0
    """The declared gas of the Move function of an on-chain tool, which `fees_mist` include."""
    refusals: int = 0
    is_leader: bool = True
    """Whether the sender is a worker of the leader, and not another account."""
    closing: str = ""
    """`settled` or `failed` if the transaction closes a run."""

    @property
    def is_closing(self):
        """Whether the transaction closes a run."""
        return bool(self.closing)

    @property
    def mist(self):
        """The total payment."""
        return self.fees_mist + self.stored_mist
