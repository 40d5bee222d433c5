"""The result of a run: how it ended, and its output."""

import signal
from dataclasses import dataclass, field

from nexus_tools.bridges.sandbox.limits import Limit

_LIMIT_REASONS = {
    Limit.TIME: "it exceeded its time limit",
    Limit.MEMORY: "it exceeded its memory limit",
    Limit.OUTPUT: "it exceeded its output limit",
    Limit.DISK: "it exceeded the size limit of its directory",
    Limit.PROCESSES: "it exceeded its process limit",
}


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The result of a run, after every process that it started has ended.

    `exit_code` is None if the run was stopped for `limit`. If a signal killed the program,
    `exit_code` is the negative signal number. `stdout`, `stderr`, and `reply` are the output of the
    run up to the output limit. `reply` is None if the run did not write a reply. `elapsed_ms` is
    the time from the start until all processes ended.
    """

    exit_code: int | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    reply: bytes | None = field(repr=False)
    limit: Limit | None
    elapsed_ms: int

    def log(self, limit_bytes: int = 4096) -> str:
        """Return the end of stdout and stderr, in this order, as at most `limit_bytes` of UTF-8."""
        output = b"\n".join(part.rstrip(b"\n") for part in (self.stdout, self.stderr) if part)
        # The text is truncated again, because an invalid byte becomes a three-byte character.
        text = output[-limit_bytes:].decode("utf-8", "replace").replace("\0", "\ufffd")
        return text.encode()[-limit_bytes:].decode("utf-8", "ignore")

    def reason(self) -> str:
        """Return the reason why the run ended, as one sentence for users."""
        if self.limit:
            return f"the tool was stopped because {_LIMIT_REASONS[self.limit]}"
        if self.exit_code is not None and self.exit_code < 0:
            return f"the tool was killed by {_signal_name(-self.exit_code)}"
        return f"the tool exited with code {self.exit_code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
