"""How a run ended: well, or why not."""

import re
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Finished
from nexus_tools.bridges.unstract.output import said_ports
from nexus_tools.bridges.unstract.transcript import Transcript
from nexus_tools.bridges.variants import error

_LOG_BYTES = 4_096
_TRACEBACK = "Traceback (most recent call last):"
# The line under a traceback: the class of the exception, and perhaps what it says.
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,200})(?::\s*(.*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolException:
    """The exception that ended a program in Python, as its standard error shows it."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type

    @classmethod
    def last_in(cls, stderr: str) -> "ToolException | None":
        """The one under the last traceback, None if there is no traceback."""
        _, mark, after = stderr.rpartition(_TRACEBACK)
        lines = (line for line in after.splitlines() if line and not line[0].isspace())
        match = _EXCEPTION.fullmatch(next(lines, "")) if mark else None
        return cls(match[1].rpartition(".")[2], match[2] or "") if match else None


@dataclass(frozen=True, slots=True)
class Ending:
    """The process as it finished, and all that it said."""

    finished: Finished
    transcript: Transcript
    redaction: Redaction

    def problem(self, *, strict_error_logs: bool) -> str:
        """Why the run failed, in one sentence; empty if it gave a result.

        It did if the program ended with 0 and a RESULT came. With `strict_error_logs` it must not
        have logged an ERROR or FATAL, by which the platform judges.
        """
        if self.finished.limit is not None:
            return self.finished.reason()
        if self.finished.exit_code != 0:
            return self._cause()
        if self.transcript.result is None:
            cause = self.transcript.problem
            return f"the tool ended without a RESULT{f': {cause}' if cause else ''}"
        if strict_error_logs and self.transcript.failure is not None:
            return f"the tool logged an error: {self.transcript.failure.log}"
        return ""

    def error(self, reason: str) -> dict[str, Any]:
        """The output `{"err": …}` for that reason, with what is known of the process."""
        exception = self._exception()
        return error(
            self.redaction.text(reason),
            finished=self.finished,
            type=exception.type if exception else None,
            # In place of the process's own: messages stand in ports of their own.
            log=self.log or None,
            **self.redaction.value(said_ports(self.transcript)),
        )

    @property
    def log(self) -> str:
        """The end of what was printed beside the messages, standard error last."""
        parts = (self.transcript.noise.rstrip("\n"), self._stderr.rstrip("\n"))
        text = self.redaction.text("\n".join(part for part in parts if part)).replace(
            "\0", "\ufffd"
        )
        return text.encode("utf-8", "replace")[-_LOG_BYTES:].decode("utf-8", "ignore")

    @property
    def _stderr(self) -> str:
        return self.finished.stderr.decode("utf-8", "replace")

    def _exception(self) -> ToolException | None:
        failed = self.finished.exit_code not in (None, 0)
        return ToolException.last_in(self._stderr) if failed else None

    def _cause(self) -> str:
        """The error that a tool logs last of all is why it ended; else its exception is."""
        failure, exception = self.transcript.failure, self._exception()
        if failure is not None and failure is self.transcript.logs[-1]:
            return f"the tool failed: {failure.log}"
        if exception is not None:
            return f"the tool failed: {exception}"
        if failure is not None:
            return f"the tool failed: {failure.log}"
        return self.finished.reason()
