"""What a command gives back to the transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.context import ResultValue


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The values that a command returned, and the arguments that it used."""

    results: Sequence[ResultValue]
    arguments: Arguments
