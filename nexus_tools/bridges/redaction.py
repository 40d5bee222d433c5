"""The removal of secrets from the output of a tool, because outcomes are public."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nexus_tools.bridges.sandbox import ProcessResult
from nexus_tools.bridges.worker import WorkerReply

MARK = "[redacted]"
SECRET_NAME = re.compile(
    r"token|passw|secret|credential|cookie|authorization|api-?key|[-_]auth$|[-_]key$|^key$",
    re.IGNORECASE,
)
"""Names of variables, headers and parameters whose values are secrets."""

# A shorter value could be an ordinary word, which occurs in any text.
_MIN_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Redaction:
    """A filter that replaces the `secrets`, longest first. Encoded secrets are not detected."""

    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Redaction":
        """Return the redaction of all secrets that have at least six characters."""
        long_secrets = {secret for secret in secrets if len(secret) >= _MIN_LENGTH}
        return cls(tuple(sorted(long_secrets, key=lambda secret: (-len(secret), secret))))

    def text(self, text: str) -> str:
        """Return a string without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, MARK)
        return text

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets. Member names are redacted as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(member) for name, member in value.items()}
        return value

    def finished(self, finished: ProcessResult) -> ProcessResult:
        """Return a process result without secrets. Call this before the log is truncated."""
        return replace(
            finished, stdout=self._bytes(finished.stdout), stderr=self._bytes(finished.stderr)
        )

    def reply(self, reply: WorkerReply) -> WorkerReply:
        """Return a worker's reply without the secrets in its error and output."""
        error = reply.error
        if error is not None:
            traceback = self.text(error.traceback)
            error = replace(error, message=self.text(error.message), traceback=traceback)
        return replace(reply, error=error, finished=self.finished(reply.finished))

    def _bytes(self, output: bytes) -> bytes:
        for secret in self.secrets:
            output = output.replace(secret.encode(), MARK.encode())
        return output
