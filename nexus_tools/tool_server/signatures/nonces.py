"""The stores of used nonces, so that a server does not accept a signed request twice.

A request is identified by its signer and its nonce. A store records a request until the request
expires. Only verified requests are recorded, so untrusted clients cannot consume memory. The number
of records per signer is limited.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Protocol

from nexus_tools.tool_server.signatures.state_file import open_state

MAX_PER_SIGNER = 200_000
"""The maximum number of unexpired requests per signer, which take about 40 MB of memory."""

_BUCKET_S = 16
# A clock may be set back, so the shared file keeps records for this time after they expire.
_MARGIN_S = 60


class NonceStoreFullError(Exception):
    """The error for a signer with too many recent requests, or for a full store.

    Users see the message.
    """


class NonceStore(Protocol):
    """A store of accepted requests."""

    since_s: float
    """The time since which the records are complete, in seconds since 1970."""

    def take(self, signer: str, nonce: str, until_s: int, now_s: float) -> bool:
        """Record a request until `until_s`. Return False if it was already recorded.

        Raises `NonceStoreFullError` if the request cannot be recorded. The caller must then reject
        it.
        """


class MemoryNonceStore:
    """A store in the memory of one process.

    After a restart, requests that were signed before the restart are rejected.
    """

    def __init__(
        self, max_per_signer: int = MAX_PER_SIGNER, *, now: Callable[[], float] = time
    ) -> None:
        self.since_s = now()
        self._max_per_signer = max_per_signer
        self._known: set[tuple[str, str]] = set()
        self._buckets: dict[int, list[tuple[str, str]]] = {}
        self._count: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._known)

    def take(self, signer: str, nonce: str, until_s: int, now_s: float) -> bool:
        """Implement `NonceStore.take`."""
        self._forget(now_s)
        request = signer, nonce
        if request in self._known:
            return False
        if self._count[signer] >= self._max_per_signer:
            raise NonceStoreFullError(f"{signer} has sent {self._max_per_signer} requests recently")
        self._known.add(request)
        self._count[signer] += 1
        self._buckets.setdefault(until_s // _BUCKET_S, []).append(request)
        return True

    def _forget(self, now_s: float) -> None:
        """Remove the buckets in which all requests have expired. The number of buckets is small."""
        oldest = int(now_s) // _BUCKET_S
        for bucket in [number for number in self._buckets if number < oldest]:
            for request in self._buckets.pop(bucket):
                self._known.discard(request)
                self._count[request[0]] -= 1


class SqliteNonceStore:
    """A store in a file that all processes of a server share and that survives restarts.

    The limit per signer applies to each process. Raises `state_unusable`.
    """

    since_s = 0.0

    def __init__(self, path: Path, max_per_signer: int = MAX_PER_SIGNER) -> None:
        self._own = MemoryNonceStore(max_per_signer)
        self._forgotten_at = 0.0
        self._file = open_state(path, _SCHEMA)

    def take(self, signer: str, nonce: str, until_s: int, now_s: float) -> bool:
        """Implement `NonceStore.take`. A file that is not writable counts as full."""
        if not self._own.take(signer, nonce, until_s, now_s):
            return False
        try:
            self._forget(now_s)
            return self._file.execute(_TAKE, (signer, nonce, until_s)).rowcount == 1
        except sqlite3.Error as error:
            raise NonceStoreFullError("the server cannot record requests at the moment") from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _forget(self, now_s: float) -> None:
        if now_s >= self._forgotten_at + _BUCKET_S:
            self._forgotten_at = now_s
            self._file.execute("DELETE FROM taken WHERE until_s < ?", (int(now_s) - _MARGIN_S,))


_SCHEMA = """
    CREATE TABLE IF NOT EXISTS taken (
        signer TEXT NOT NULL,
        nonce TEXT NOT NULL,
        until_s INTEGER NOT NULL,
        PRIMARY KEY (signer, nonce)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS taken_until ON taken (until_s);
"""
_TAKE = "INSERT OR IGNORE INTO taken VALUES (?, ?, ?)"
