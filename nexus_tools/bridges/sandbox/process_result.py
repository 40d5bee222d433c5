"""How a run ended, and what it left in its pipes."""

import signal
from dataclasses import dataclass, field

from nexus_tools.bridges.sandbox.limits import Limit

_PASSED = {
    Limit.TIME: "it took longer than it may",
    Limit.MEMORY: "it took more memory than it may",
    Limit.OUTPUT: "it wrote more output than it may",
    Limit.DISK: "it put more into its directory than it may",
    Limit.PROCESSES: "it started more processes than it may",
}


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is over, with every process that it started.

    `exit_code` is None where it was stopped for `limit`, and the negative number of the signal
    that killed it. `stdout`, `stderr` and `reply` are what it wrote up to the output limit;
    `reply` is None if nothing was. `elapsed_ms` is the time from its start until all had ended.
    """

    exit_code: int | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    reply: bytes | None = field(repr=False)
    limit: Limit | None
    elapsed_ms: int

    def log(self, limit_bytes: int = 4096) -> str:
        """The end of what it printed, standard output first, in `limit_bytes` of UTF-8."""
        printed = b"\n".join(part.rstrip(b"\n") for part in (self.stdout, self.stderr) if part)
        # One byte that is no UTF-8 becomes a character of three.
        text = printed[-limit_bytes:].decode("utf-8", "replace").replace("\0", "\ufffd")
        return text.encode()[-limit_bytes:].decode("utf-8", "ignore")

    def reason(self) -> str:
        """Why it ended, in one sentence for people."""
        if self.limit:
            return f"the tool was stopped: {_PASSED[self.limit]}"
        if self.exit_code is not None and self.exit_code < 0:
            return f"the tool was killed by {_signal_name(-self.exit_code)}"
        return f"the tool ended with exit code {self.exit_code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
