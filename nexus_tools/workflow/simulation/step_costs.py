"""The estimated cost of the steps of a workflow, with configurable prices and fees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.tool import Answer, Outcome, canonical_json, outcome_bytes


@dataclass(frozen=True, slots=True)
class StepCosts:
    """The prices and fees that determine the cost of a step, in MIST.

    `prices_mist` has the price of each tool by FQN. The other fields are the fees of a leader. The
    default fees follow from the registry's default settings at a reference gas price of 1 000. The
    resulting cost is an estimate. The estimate excludes the caller's own gas and refunded storage.
    The estimate assumes that each value is stored again for each step that takes the value.
    """

    prices_mist: Mapping[str, int] = field(default_factory=dict)
    failed_mist: int = 1_520_000
    settled_mist: int = 3_520_000
    input_byte_mist: int = 100
    outcome_byte_mist: int = 7_600

    def of(self, fqn: str, ports: Mapping[str, Any], outcome: Outcome) -> int:
        """Return the cost of one tool call. A failed call does not pay the tool's price."""
        inputs = len(canonical_json(dict(ports))) * self.input_byte_mist
        if not isinstance(outcome, Answer):
            return self.failed_mist + inputs
        answer = outcome_bytes(outcome) * self.outcome_byte_mist
        return self.prices_mist.get(fqn, 0) + self.settled_mist + inputs + answer
