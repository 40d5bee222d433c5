"""Which signed requests a server has taken: none is taken twice.

A request is named by its signer and its nonce, and remembered for as long as it would pass. Only
what is verified is remembered, so that strangers take no room; each signer has so much of it and no
more.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Protocol

from nexus_tools.tool_server.signatures.state_file import open_state

MAX_PER_SIGNER = 200_000
"""As many requests in the minute or so for which each is good: about 40 MB for one signer."""

_BUCKET_S = 16
# Clocks are set back now and then: what others share is kept a little longer.
_MARGIN_S = 60


class NoncesFullError(Exception):
    """The signer has no room for another request, or there is none at all. It is for people."""


class Nonces(Protocol):
    """Where the requests are remembered that were taken."""

    since_s: float
    """What was signed before is not remembered; seconds since 1970."""

    def take(self, signer: str, nonce: str, until_s: int, now_s: float) -> bool:
        """Remember a request until then; False if it was taken before.

        Raises `NoncesFullError`, and then the request is not taken.
        """


class MemoryNonces:
    """In the memory of one process. After a restart, what was signed before it is refused."""

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
        """As `Nonces` has it."""
        self._forget(now_s)
        request = signer, nonce
        if request in self._known:
            return False
        if self._count[signer] >= self._max_per_signer:
            raise NoncesFullError(f"{signer} has sent {self._max_per_signer} requests of late")
        self._known.add(request)
        self._count[signer] += 1
        self._buckets.setdefault(until_s // _BUCKET_S, []).append(request)
        return True

    def _forget(self, now_s: float) -> None:
        """Forget whole buckets, of which there are few, once all in them is over."""
        oldest = int(now_s) // _BUCKET_S
        for bucket in [each for each in self._buckets if each < oldest]:
            for request in self._buckets.pop(bucket):
                self._known.discard(request)
                self._count[request[0]] -= 1


class SqliteNonces:
    """In a file that the processes of a server share, and that outlives them.

    The bound holds for each process. Raises `state_unusable`.
    """

    since_s = 0.0

    def __init__(self, path: Path, max_per_signer: int = MAX_PER_SIGNER) -> None:
        self._own = MemoryNonces(max_per_signer)
        self._forgotten_at = 0.0
        self._file = open_state(path, _SCHEMA)

    def take(self, signer: str, nonce: str, until_s: int, now_s: float) -> bool:
        """As `Nonces` has it; a file that cannot be written to has no room."""
        if not self._own.take(signer, nonce, until_s, now_s):
            return False
        try:
            self._forget(now_s)
            return self._file.execute(_TAKE, (signer, nonce, until_s)).rowcount == 1
        except sqlite3.Error as error:
            raise NoncesFullError("the server cannot remember requests now") from error

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
