"""Secrets taken out of what a tool gave and said: an outcome is for everyone to read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nexus_tools.bridges.sandbox import Finished
from nexus_tools.bridges.worker import WorkerReply

MARK = "[redacted]"
SECRET_NAME = re.compile(
    r"token|passw|secret|credential|cookie|authorization|api-?key|[-_]auth$|[-_]key$|^key$",
    re.IGNORECASE,
)
"""Names of variables, headers and parameters whose values are secrets."""

# A shorter value is a word that stands in any text.
_MIN_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Redaction:
    """Takes out `secrets`, the longest first, as they stand; what a tool encodes is not known."""

    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Redaction":
        """The redaction of these values; ones of fewer than six characters are left alone."""
        long = {secret for secret in secrets if len(secret) >= _MIN_LENGTH}
        return cls(tuple(sorted(long, key=lambda secret: (-len(secret), secret))))

    def text(self, text: str) -> str:
        """A text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, MARK)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value without the secrets, in names too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(member) for name, member in value.items()}
        return value

    def finished(self, finished: Finished) -> Finished:
        """A run whose output has no secrets: done before its end is cut off as a log."""
        return replace(
            finished, stdout=self._bytes(finished.stdout), stderr=self._bytes(finished.stderr)
        )

    def reply(self, reply: WorkerReply) -> WorkerReply:
        """What a worker says of a failure, without the secrets."""
        error = reply.error
        if error is not None:
            traceback = self.text(error.traceback)
            error = replace(error, message=self.text(error.message), traceback=traceback)
        return replace(reply, error=error, finished=self.finished(reply.finished))

    def _bytes(self, output: bytes) -> bytes:
        for secret in self.secrets:
            output = output.replace(secret.encode(), MARK.encode())
        return output
