"""What the watching program reports, line by line."""

from dataclasses import dataclass, field

from nexus_tools.bridges.sandbox.limits import Limit


@dataclass(slots=True)
class Report:
    """A report as far as it has come; the lines are described in `watch/main.py`.

    `group` is the program's process group. Without `is_complete` the watch ended before it could
    say how the program did.
    """

    text: bytearray = field(default_factory=bytearray)

    @property
    def group(self) -> int | None:
        """The process group of the program, once it was started."""
        started = self._last("started")
        return int(started) if started else None

    @property
    def exit_code(self) -> int | None:
        """The program's exit code, or the negative number of the signal that killed it."""
        ended = self._last("ended")
        return int(ended) if ended else None

    @property
    def limit(self) -> Limit | None:
        """The bound for which the program was stopped."""
        limit = self._last("limit")
        return Limit(limit) if limit else None

    @property
    def failure(self) -> tuple[int, str] | None:
        """Why the program was not started: errno, and what was being done."""
        number, _, stage = self._last("failed").partition(" ")
        return (int(number), stage) if number else None

    @property
    def is_complete(self) -> bool:
        """Whether all has ended, and nothing is left to kill."""
        words = {line.partition(" ")[0] for line in self._lines()}
        return bool(words & {"ended", "limit", "stopped", "failed"})

    def _lines(self) -> list[str]:
        return self.text.decode("ascii").splitlines()

    def _last(self, word: str) -> str:
        found = [line for line in self._lines() if line.startswith(f"{word} ")]
        return found[-1].partition(" ")[2] if found else ""
