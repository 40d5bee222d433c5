"""A store over a directory with one bucket, and common S3 clients."""

from functools import partial

import anyio
import botocore.session
import httpx
import pytest
import s3fs
from botocore.config import Config

from nexus_tools.bridges.unstract.object_store import object_store

BUCKET = "the-bucket"

# Shared, because loading botocore's description of S3 takes half a second.
SESSION = botocore.session.Session()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Hide the machine's own settings from clients."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root" / BUCKET).mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def bucket(root):
    """Return the bucket as a directory."""
    return root / BUCKET


@pytest.fixture
def open_store(root):
    """Return a function that opens a store, by default for 32 MiB and 50 files."""
    return partial(object_store, root, max_bytes=32 * 2**20, max_files=50)


@pytest.fixture
async def store(open_store):
    async with open_store() as store:
        yield store


class Botocore:
    """The blocking botocore client in a worker thread: `await client("put_object", Key=…)`."""

    def __init__(self, store, **settings):
        keys = {"access_key": store.access_key, "secret_key": "anything"} | settings
        self.raw = SESSION.create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=store.endpoint_url,
            aws_access_key_id=keys["access_key"],
            aws_secret_access_key=keys["secret_key"],
            config=Config(
                signature_version="s3v4",
                read_timeout=10,
                retries={"total_max_attempts": 1},
                s3={"addressing_style": "path"},
            ),
        )

    async def __call__(self, operation, **arguments):
        if operation not in ("list_buckets", "create_bucket"):
            arguments.setdefault("Bucket", BUCKET)
        return await anyio.to_thread.run_sync(partial(getattr(self.raw, operation), **arguments))

    async def content(self, key, **arguments):
        """Return the whole content from GetObject."""

        def read():
            with self.raw.get_object(Bucket=BUCKET, Key=key, **arguments)["Body"] as body:
                return body.read()

        return await anyio.to_thread.run_sync(read)


@pytest.fixture
def connect():
    """Return a function that creates clients of a store, which are closed in the end."""
    clients = []

    def make(store, **settings):
        clients.append(Botocore(store, **settings))
        return clients[-1]

    yield make
    for client in clients:
        client.raw.close()


@pytest.fixture
async def client(store, connect):
    return connect(store)


@pytest.fixture
async def http():
    """Return an HTTP client without S3 support."""
    async with httpx.AsyncClient(trust_env=False) as http:
        yield http


@pytest.fixture
async def fs(store):
    """Return the S3 file system of fsspec."""
    file_system = s3fs.S3FileSystem(
        asynchronous=True,
        skip_instance_cache=True,
        endpoint_url=store.endpoint_url,
        key=store.access_key,
        secret=store.access_key,
    )
    session = await file_system.set_session()
    yield file_system
    await session.close()
