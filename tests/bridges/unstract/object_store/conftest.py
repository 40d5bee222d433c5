"""A store over a directory with one bucket, and the clients that people use."""

from functools import partial

import anyio
import botocore.session
import httpx
import pytest
import s3fs
from botocore.config import Config

from nexus_tools.bridges.unstract.object_store import object_store

BUCKET = "the-bucket"

# Shared, because it takes half a second to read what S3 is.
SESSION = botocore.session.Session()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Clients read nothing of the machine's own settings."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root" / BUCKET).mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def bucket(root):
    """The bucket as a directory."""
    return root / BUCKET


@pytest.fixture
def open_store(root):
    """Opens a store, by default with room for 32 MiB and 50 files."""
    return partial(object_store, root, max_bytes=32 * 2**20, max_files=50)


@pytest.fixture
async def store(open_store):
    async with open_store() as store:
        yield store


class Botocore:
    """botocore, whose calls block, in a worker thread: `await client("put_object", Key=…)`."""

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
        """What GetObject gives, read to its end."""

        def read():
            with self.raw.get_object(Bucket=BUCKET, Key=key, **arguments)["Body"] as body:
                return body.read()

        return await anyio.to_thread.run_sync(read)


@pytest.fixture
def connect():
    """Makes clients of a store, by default with its keys; they are closed in the end."""
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
    """A client that knows nothing of S3."""
    async with httpx.AsyncClient(trust_env=False) as http:
        yield http


@pytest.fixture
async def fs(store):
    """The S3 file system of fsspec."""
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
