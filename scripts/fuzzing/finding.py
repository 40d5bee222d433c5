"""Findings: inputs that made a target fail. Findings are grouped by location and saved as files."""

import hashlib
import traceback
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(".cache/fuzz")


class Broken(Exception):  # noqa: N818 - the name states the finding
    """The error for a violated invariant of a target."""


class TimeLimitExceeded(BaseException):
    """The error for an input that exceeded the time limit. It is not an `Exception`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input, and the failure of the target that it causes."""

    target: str
    data: bytes
    summary: str
    trace: str = ""

    def save(self, folder: Path = FOLDER) -> Path:
        """Write the input to a file whose name contains its target."""
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.blake2b(self.data, digest_size=6).hexdigest()
        path = folder / f"{self.target}-{digest}.bin"
        path.write_bytes(self.data)
        return path


def place(error: BaseException) -> str:
    """Return the class of an error and the innermost line of the product in its traceback.

    Findings with the same result count as the same finding.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/nexus_tools/" in frame.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    words = str(error) if isinstance(error, Broken) else ""
    return f"{type(error).__name__} {words.partition(':')[0]} {where}"


def of(target: str, data: bytes, error: BaseException) -> Finding:
    """Return the finding for an exception."""
    summary = f"{type(error).__name__}: {error!s:.300}"
    return Finding(target, data, summary, "".join(traceback.format_exception(error)))
