"""The lifetime of the store."""

import socket

import pytest

from nexus_tools.bridges.unstract.object_store import object_store


async def test_store_listens_only_on_loopback_while_open(open_store):
    async with open_store() as store:
        host, port = store.endpoint_url.removeprefix("http://").split(":")
        assert host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


async def test_each_store_has_its_own_key(open_store):
    async with open_store() as one, open_store() as other:
        assert one.access_key != other.access_key


async def test_only_the_clients_files_remain(root, open_store, connect):
    async with open_store() as store:
        client = connect(store)
        created = await client("create_multipart_upload", Key="never")
        upload = {"Key": "never", "UploadId": created["UploadId"], "PartNumber": 1}
        await client("upload_part", Body=b"part", **upload)
        await client("put_object", Key="kept", Body=b"content")
    assert [str(path.relative_to(root)) for path in root.rglob("*")] == [
        "the-bucket",
        "the-bucket/kept",
    ]


async def test_missing_root_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        async with object_store(tmp_path / "absent", max_bytes=1, max_files=1):
            pass
