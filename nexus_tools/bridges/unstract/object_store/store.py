"""The store itself: keys that nobody had before, a port on loopback, and a directory behind it."""

import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from nexus_tools.bridges.unstract.object_store.authentication import Credentials
from nexus_tools.bridges.unstract.object_store.objects import Objects
from nexus_tools.bridges.unstract.object_store.quota import Quota
from nexus_tools.bridges.unstract.object_store.service import Service
from nexus_tools.bridges.unstract.object_store.tree import Tree
from nexus_tools.bridges.unstract.object_store.uploads import Uploads

DEFAULT_MAX_BYTES = 256 * 2**20
DEFAULT_MAX_FILES = 10_000

_HOST = "127.0.0.1"
_MAX_CONNECTIONS = 128
_GRACE_S = 1
# Longer than a tool may run: a connection is not closed between two of its requests.
_KEEP_ALIVE_S = 150


class ObjectStore:
    """S3 over a directory, while its context lasts; for the one tool that is given its keys.

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
        # In the form of AWS's keys, which some clients check.
        self.access_key = "NX" + secrets.token_hex(9).upper()
        self.secret_key = secrets.token_urlsafe(30)
        self.endpoint_url = ""

    async def __aenter__(self) -> Self:
        """Bind a free port of loopback and answer from now on."""
        # A name that begins with a dot is no bucket's.
        self._staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=self._root))
        try:
            self._listener = socket.create_server((_HOST, 0), backlog=_MAX_CONNECTIONS)
            self._server = _EmbeddedServer(_configuration(self._service()))
            await self._server.begin(self._listener)
        except BaseException:
            self._clear()
            raise
        self.endpoint_url = f"http://{_HOST}:{self._listener.getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the port and forget uploads that were not completed."""
        try:
            await self._server.end(self._listener)
        finally:
            self._clear()

    def _service(self) -> Service:
        tree = Tree(self._root.resolve(), self._quota)
        tree.measure()
        # The staging directory is not the client's.
        self._quota.give(files=1)
        objects = Objects(tree, self._quota, self._staging)
        credentials = Credentials(self.access_key, self.secret_key)
        return Service(credentials, objects, Uploads(objects, self._staging))

    def _clear(self) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)


def _configuration(service: Service) -> uvicorn.Config:
    """Quiet, without lifespan and web sockets, and bounded."""
    return uvicorn.Config(
        service,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )


class _EmbeddedServer(uvicorn.Server):
    """uvicorn without its own loop over signals and ticks: it begins, and it ends."""

    async def begin(self, listener: socket.socket) -> None:
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup(sockets=[listener])

    async def end(self, listener: socket.socket) -> None:
        self.should_exit = True
        await self.shutdown(sockets=[listener])

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
