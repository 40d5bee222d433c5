"""Inputs that broke something: told apart by where it broke, and kept as files."""

import hashlib
import traceback
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(".cache/fuzz")


class Broken(Exception):  # noqa: N818 - it says what the product is
    """What has to hold of a target does not hold."""


class TimeUp(BaseException):
    """An input took longer than one may; no handler of errors catches it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input and how it broke the target."""

    target: str
    data: bytes
    summary: str
    trace: str = ""

    def save(self, folder: Path = FOLDER) -> Path:
        """Write the input to a file whose name says of which target it is."""
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.blake2b(self.data, digest_size=6).hexdigest()
        path = folder / f"{self.target}-{digest}.bin"
        path.write_bytes(self.data)
        return path


def place(error: BaseException) -> str:
    """The kind of an error and the innermost line of the product, of two findings alike."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/nexus_tools/" in frame.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    words = str(error) if isinstance(error, Broken) else ""
    return f"{type(error).__name__} {words.partition(':')[0]} {where}"


def of(target: str, data: bytes, error: BaseException) -> Finding:
    """The finding that an exception is."""
    summary = f"{type(error).__name__}: {error!s:.300}"
    return Finding(target, data, summary, "".join(traceback.format_exception(error)))
