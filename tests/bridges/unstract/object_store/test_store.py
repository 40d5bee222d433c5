"""The store's own life."""

import socket

import pytest

from nexus_tools.bridges.unstract.object_store import ObjectStore


async def test_it_listens_on_loopback_only_while_it_lasts(root):
    async with ObjectStore(root) as store:
        host, port = store.endpoint_url.removeprefix("http://").split(":")
        assert host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


async def test_each_has_a_key_of_its_own(root):
    stores = [ObjectStore(root) for _ in range(2)]
    assert len({store.access_key for store in stores}) == 2


async def test_nothing_but_the_client_s_files_is_left(root, connect):
    async with ObjectStore(root) as store:
        client = connect(store)
        created = await client("create_multipart_upload", Key="never")
        upload = {"Key": "never", "UploadId": created["UploadId"], "PartNumber": 1}
        await client("upload_part", Body=b"part", **upload)
        await client("put_object", Key="kept", Body=b"content")
    assert [str(path.relative_to(root)) for path in root.rglob("*")] == [
        "the-bucket",
        "the-bucket/kept",
    ]


async def test_a_root_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        async with ObjectStore(tmp_path / "absent"):
            pass
