"""The store itself: a key that nobody had before, a port on loopback, a directory behind it."""

import secrets
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nexus_tools.bridges.unstract.object_store.objects import Objects, Uploads
from nexus_tools.bridges.unstract.object_store.service import Service
from nexus_tools.bridges.unstract.object_store.tree import Quota, Tree
from nexus_tools.embedded_server import embedded, listening_socket, url_of

DEFAULT_MAX_BYTES = 256 * 2**20
DEFAULT_MAX_FILES = 10_000

_HOST = "127.0.0.1"
_BOUNDS: dict[str, Any] = {
    "http": "h11",
    "lifespan": "off",
    "date_header": False,
    "limit_concurrency": 128,
    "timeout_graceful_shutdown": 1,
    # Longer than a tool may run: a connection is not closed between two of its requests.
    "timeout_keep_alive": 150,
}


class ObjectStore:
    """S3 over a directory, while its context lasts; for the one tool that is given its key.

    Direct subdirectories of `root` are buckets, where S3 allows the name; keys are relative paths
    below them, and what a client writes is a file as soon as it is whole. `max_bytes` and
    `max_files` (directories count) bound what the store holds, with what lay there before.
    Runs in the loop that enters it, in no thread of its own.
    """

    def __init__(
        self,
        root: Path,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        max_files: int = DEFAULT_MAX_FILES,
    ) -> None:
        self._root = root
        self._quota = Quota(max_bytes, max_files)
        # In the form of AWS's keys, which some clients check: 128 bits that nobody guesses.
        self.access_key = "NX" + secrets.token_hex(16).upper()
        self.endpoint_url = ""

    async def __aenter__(self) -> Self:
        """Bind a free port of loopback and answer from now on."""
        async with AsyncExitStack() as stack:
            # A name that begins with a dot is no bucket's.
            self._staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=self._root))
            stack.callback(shutil.rmtree, self._staging, ignore_errors=True)
            listener = listening_socket(_HOST, 0)
            self.endpoint_url = url_of(listener)
            await stack.enter_async_context(embedded(self._service(), listener, **_BOUNDS))
            self._open = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the port and forget uploads that were not completed."""
        await self._open.__aexit__(kind, error, trace)

    def _service(self) -> Service:
        tree = Tree(self._root.resolve(), self._quota)
        tree.measure()
        # The staging directory is not the client's.
        self._quota.give(files=1)
        objects = Objects(tree, self._quota, self._staging)
        return Service(self.access_key, objects, Uploads(objects, self._staging))
