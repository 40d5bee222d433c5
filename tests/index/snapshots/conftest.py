"""A published snapshot of an index of a chain, and ways to lie in it."""

import gzip
import hashlib
import json
import random
import sqlite3
from contextlib import closing
from http import HTTPStatus

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from nexus_tools.errors import NexusError
from nexus_tools.index.snapshots import create_snapshot, install_snapshot, read_manifest
from tests.index.conftest import read_rows


class Publisher:
    """A static server of a folder with a snapshot, which may lie or break connections."""

    def __init__(self, folder):
        self.folder = folder
        self.url = ""
        self.cut_bytes = None
        """The number of bytes after which the next download breaks, or None."""
        self.ranges = []
        """The `Range` headers of the downloads."""

    def app(self):
        return Starlette(routes=[Route("/published/{name}", self._get)])

    async def _get(self, request):
        name = request.path_params["name"]
        path = self.folder / name
        if not path.is_file():
            return Response(status_code=HTTPStatus.NOT_FOUND)
        if name != "snapshot.json":
            self.ranges.append(request.headers.get("range"))
            if self.cut_bytes is not None:
                cut, self.cut_bytes = self.cut_bytes, None
                headers = {"content-length": str(path.stat().st_size)}
                return Response(path.read_bytes()[:cut], headers=headers)
        return FileResponse(path)

    # --- Lies

    @property
    def manifest(self):
        return read_manifest(self.folder)

    @property
    def file(self):
        return self.folder / self.manifest.file

    def change_manifest(self, **fields):
        path = self.folder / "snapshot.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    def change_file(self, *statements):
        """Change the snapshot with SQL, and publish it with a correct digest."""
        plain = self.folder / "plain.sqlite"
        plain.write_bytes(gzip.decompress(self.file.read_bytes()))
        with closing(sqlite3.connect(plain, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        self.publish(plain.read_bytes())

    def publish(self, content):
        """Publish other contents with a correct manifest."""
        packed = gzip.compress(content)
        self.file.write_bytes(packed)
        self.change_manifest(
            file_bytes=len(packed),
            sha256=hashlib.sha256(packed).hexdigest(),
            index_bytes=len(content),
        )


@pytest.fixture
async def original(eventful, new_index, pipeline):
    """Return an index of a chain with events of all kinds."""
    index = new_index("original.sqlite")
    await pipeline(index).catch_up()
    return index


@pytest.fixture
async def publisher(original, tmp_path, serve_app):
    """Return the publisher of a snapshot of this index."""
    publisher = Publisher(tmp_path / "published")
    create_snapshot(original.path, original.identity, publisher.folder)
    publisher.url = f"{await serve_app(publisher.app())}/published"
    return publisher


@pytest.fixture
def install(eventful, publisher):
    """Return a function that installs the published snapshot as an index."""

    async def install(index, **options):
        options = {"numbers": random.Random(7)} | options
        client = eventful.clients["user"]
        return await install_snapshot(client, eventful.deployment, index, publisher.url, **options)

    return install


@pytest.fixture
async def refused(install, new_index, tmp_path):
    """Return a function that returns the code with which the snapshot is refused.

    The old index must not change, and no temporary file may remain.
    """
    index = new_index("local.sqlite")
    before = read_rows(index)

    async def refused(**options):
        with pytest.raises(NexusError) as caught:
            await install(index, **options)
        assert caught.value.hint
        assert read_rows(index) == before
        names = {path.name.partition(".sqlite")[2] for path in tmp_path.glob("local.sqlite*")}
        assert names <= {"", "-wal", "-shm", ".lock"}
        return caught.value.code

    return refused
