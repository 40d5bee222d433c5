"""The progress record, a small file next to the ledger that names its chain and last checkpoint.

SQLite recovers a damaged write-ahead log up to its last intact commit, and it treats an empty file
as a new database. In both cases, the database looks like a valid but older state. The record shows
that checkpoints are missing.

The record never names a checkpoint that the ledger lacks. The record is updated after a commit and
before a revert. So the process may be killed between any two steps:

    commit checkpoint 8    ledger at 8, record at 7
    move the record        ledger at 8, record at 8
    move the record back   ledger at 8, record at 5
    commit the revert      ledger at 5, record at 5
"""

import logging
import os
from pathlib import Path
from typing import Self

from msgspec import Struct

from nexus_tools.sui.errors import NexusError, ValidationError
from nexus_tools.sui.localnet.ledger.database import STATE_FILE_NAME
from nexus_tools.sui.support.private_file import write_private
from nexus_tools.sui.types.digest import Digest

_LOG = logging.getLogger(__name__)

RECORD_FILE_NAME = "ledger.checkpoint"


class Progress(Struct, frozen=True):
    """A checkpoint of a chain. `chain_id` is the digest of the chain's genesis checkpoint."""

    chain_id: Digest
    number: int
    digest: Digest

    def encode(self) -> str:
        """Return a line of fixed length, so that a new line overwrites the old one completely."""
        return f"{self.number:>20} {self.digest.hex()} {self.chain_id.hex()}\n"

    @classmethod
    def decode(cls, text: str) -> Self:
        """Parse the output of `encode`.

        Raises:
            ValueError: the text is malformed.
            ValidationError: `digest_invalid`.
        """
        number, digest, chain_id = text.split()
        return cls(Digest(bytes.fromhex(chain_id)), int(number), Digest(bytes.fromhex(digest)))


class ProgressRecord:
    """The progress record in a state directory, for the process that opened the state.

    Raises:
        ValidationError: `state_damaged` if the file is malformed.
    """

    __slots__ = ("_descriptor", "path", "progress")

    def __init__(self, directory: Path) -> None:
        self.path = directory / RECORD_FILE_NAME
        self.progress = self._read()
        self._descriptor: int | None = None

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def incomplete(self, finding: str) -> ValidationError:
        """Return the error for a ledger that has lost checkpoints."""
        assert self.progress is not None
        return ValidationError(
            "state_incomplete",
            f"the state in {self.path.parent} lost data: {finding}, but it had reached"
            f" checkpoint {self.progress.number} of chain {self.progress.chain_id}",
            hint="Restore a copy of the folder, or start with another folder."
            f" To continue with the remaining data, delete `{self.path}`.",
        )

    def move_forward(self, progress: Progress) -> None:
        """Record a committed checkpoint.

        If the write fails, the record stays at an earlier checkpoint. An old record is harmless,
        because the checkpoint itself is stored.
        """
        try:
            self._write(progress)
        except OSError as error:
            _LOG.warning("cannot update %s: %s", self.path, error)

    def move_back(self, progress: Progress) -> None:
        """Record an earlier checkpoint. Call this method before deleting the later checkpoints.

        Raises:
            NexusError: `state_write_failed`.
        """
        try:
            self._write(progress)
        except OSError as error:
            raise NexusError(
                "state_write_failed", f"cannot write {self.path}: {error.strerror}"
            ) from None

    def _write(self, progress: Progress) -> None:
        """Overwrite the line in the file, or create the file with its first line."""
        if self._descriptor is None:
            if self.progress is None:
                write_private(self.path, progress.encode())
            self._descriptor = os.open(self.path, os.O_WRONLY)
        os.pwrite(self._descriptor, progress.encode().encode(), 0)
        self.progress = progress

    def _read(self) -> Progress | None:
        """Return the recorded progress, or None if the file does not exist."""
        try:
            return Progress.decode(self.path.read_text(encoding="ascii"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise NexusError(
                "state_write_failed", f"cannot read {self.path}: {error.strerror}"
            ) from None
        except (ValueError, ValidationError) as error:
            raise ValidationError(
                "state_damaged",
                f"cannot read {self.path}: {error}",
                hint="Restore a copy of the folder, or start with another folder."
                f" To continue without the record, delete `{self.path}`.",
            ) from None


def require_database(directory: Path, file: Path) -> None:
    """Refuse a missing or empty database if a progress record exists.

    Raises:
        ValidationError: `state_incomplete`, `state_damaged`.
    """
    if file.exists() and file.stat().st_size:
        return
    record = ProgressRecord(directory)
    if record.progress is not None:
        raise record.incomplete("the database is missing or empty")


def delete_state(directory: Path) -> None:
    """Delete the database and the progress record in a directory.

    The record is deleted first, because it must not outlive the database.
    """
    (directory / RECORD_FILE_NAME).unlink(missing_ok=True)
    for file in directory.glob(f"{STATE_FILE_NAME}*"):
        file.unlink()
