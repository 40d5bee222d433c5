"""How a tool's program is run: what every runner is given, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nexus_tools.bridges.sandbox import Finished, ProcessLimits, Scratch
from nexus_tools.bridges.unstract.storage import Storage


@dataclass(frozen=True, slots=True)
class Command:
    """One command for a tool: its arguments, its input, and what it has around it.

    `variables` are environment variables beyond what every tool gets. `storage` is None for the
    commands that only ask what the tool is.
    """

    arguments: Sequence[str]
    scratch: Scratch
    limits: ProcessLimits
    variables: Mapping[str, str] = field(repr=False)
    storage: Storage | None = None
    input: bytes = b""
    on_stdout: Callable[[bytes], None] | None = None


class Runner(Protocol):
    """Runs the commands of one tool."""

    async def run(self, command: Command) -> Finished:
        """Run it to its end; cancelling ends everything that was started."""
        ...

    def data_path(self, storage: Storage) -> str:
        """The data directory of a run as the tool sees it."""
        ...

    async def checks(self) -> dict[str, bool]:
        """What has to be there for a run, by name."""
        ...
