"""What is to be written on chain about one invocation, and how much room that takes."""

import asyncio
from dataclasses import dataclass, field

from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.journal_entry import Ending
from nexus_tools.sui.builder import MAX_PURE_BYTES
from nexus_tools.tool import Failure, Outcome

# Ids, versions and indices of one closing in the bytes of a transaction, and of one port.
_BYTES = 400
_BYTES_PER_PORT = 100
_COMMANDS = 5
_COMMANDS_PER_PORT = 2
_EFFORT_PER_PORT = 8


@dataclass(slots=True, eq=False)
class Closing:
    """An answer on its way to the chain; `ended` is resolved when the invocation is closed."""

    assignment: Assignment
    answer: Outcome | Failure
    outcome_bytes: int
    initial_version: int
    ended: asyncio.Future[Ending] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    setbacks: int = 0

    @property
    def ending(self) -> Ending:
        """How the invocation ends if this reaches the chain."""
        return Ending.SETTLED if isinstance(self.answer, Outcome) else Ending.FAILED

    @property
    def size(self) -> int:
        """About how many bytes of a transaction it takes; rather more."""
        return _BYTES + self._ports * _BYTES_PER_PORT + self.outcome_bytes

    @property
    def commands(self) -> int:
        """About how many commands it takes; rather more."""
        chunks = self.outcome_bytes // MAX_PURE_BYTES
        return _COMMANDS + self._ports * _COMMANDS_PER_PORT + chunks

    @property
    def effort(self) -> int:
        """How much the Move machine has to do, in comparisons of port names and the like."""
        return self._ports * (self._ports + _EFFORT_PER_PORT)

    @property
    def _ports(self) -> int:
        return len(self.answer.ports) if isinstance(self.answer, Outcome) else 0

    def end(self, ending: Ending) -> None:
        """Tell who waits."""
        if not self.ended.done():
            self.ended.set_result(ending)
