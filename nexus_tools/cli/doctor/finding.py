"""What the doctor has found."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and for what is not well a command that mends it."""

    name: str
    status: Status
    message: str
    remedy: str = ""

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return asdict(self)


def ok(name: str, message: str) -> Finding:
    """It is as it should be."""
    return Finding(name, "ok", message)


def warning(name: str, message: str, remedy: str) -> Finding:
    """Something may be missed, or go wrong later."""
    return Finding(name, "warning", message, remedy)


def problem(name: str, message: str, remedy: str) -> Finding:
    """Commands fail by it."""
    return Finding(name, "problem", message, remedy)
