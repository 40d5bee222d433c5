"""What the steps of a workflow are going to cost: an estimate, from figures that can be given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.tool import Answer, Outcome, canonical_json, outcome_bytes


@dataclass(frozen=True, slots=True)
class StepCosts:
    """The figures of which the cost of a step is made, in MIST.

    `prices_mist` has the price of each tool by FQN. The rest are the fees of a leader: those that
    the registry has by default, at a reference gas price of 1 000. It is an estimate: gas of one's
    own and storage that comes back are not in it, and each value counts as if it were written anew.
    """

    prices_mist: Mapping[str, int] = field(default_factory=dict)
    failed_mist: int = 1_520_000
    settled_mist: int = 3_520_000
    input_byte_mist: int = 100
    outcome_byte_mist: int = 7_600

    def of(self, fqn: str, ports: Mapping[str, Any], outcome: Outcome) -> int:
        """What one call of a tool costs: a failed one has no price."""
        inputs = len(canonical_json(dict(ports))) * self.input_byte_mist
        if not isinstance(outcome, Answer):
            return self.failed_mist + inputs
        answer = outcome_bytes(outcome) * self.outcome_byte_mist
        return self.prices_mist.get(fqn, 0) + self.settled_mist + inputs + answer
