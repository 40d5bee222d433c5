"""Findings: inputs that broke something, distinguished by the location and saved as files."""

import hashlib
import traceback
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(".cache/fuzz")


class Broken(Exception):  # noqa: N818 - it says what the product is
    """An invariant of a target does not hold."""


class TimeLimitExceeded(BaseException):
    """An input exceeded the time limit. No error handler catches this exception."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input, and its failure of the target."""

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
    """Return the kind of an error and the product's innermost line, equal for equal findings."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/nexus_tools/" in frame.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    words = str(error) if isinstance(error, Broken) else ""
    return f"{type(error).__name__} {words.partition(':')[0]} {where}"


def of(target: str, data: bytes, error: BaseException) -> Finding:
    """Return the finding for an exception."""
    summary = f"{type(error).__name__}: {error!s:.300}"
    return Finding(target, data, summary, "".join(traceback.format_exception(error)))
