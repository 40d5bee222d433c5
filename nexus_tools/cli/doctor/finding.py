"""The result of a check."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, with a command that fixes a problem."""

    name: str
    status: Status
    message: str
    remedy: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the finding as `--json` prints it."""
        return asdict(self)


def ok(name: str, message: str) -> Finding:
    """Return the finding of a successful check."""
    return Finding(name, "ok", message)


def warning(name: str, message: str, remedy: str) -> Finding:
    """Return a finding for a problem that may make commands fail later."""
    return Finding(name, "warning", message, remedy)


def problem(name: str, message: str, remedy: str) -> Finding:
    """Return a finding for a problem that makes commands fail."""
    return Finding(name, "problem", message, remedy)
