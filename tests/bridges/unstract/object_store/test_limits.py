"""Attacks by untrusted clients: leaving the root, following links, filling the disk."""

import os

import anyio
import httpx
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError


def refused(code):
    return pytest.raises(ClientError, match=rf"\({code}\)")


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("../outside", "InvalidArgument"),
        ("a/../../outside", "InvalidArgument"),
        ("a//b", "InvalidArgument"),
        ("/absolute", "InvalidArgument"),
        ("./a", "InvalidArgument"),
        ("a\x00b", "InvalidArgument"),
        ("a\nb", "InvalidArgument"),
        ("x" * 256, "InvalidArgument"),
        ("a/" * 65 + "a", "InvalidArgument"),
        ("x/" * 400 + "y" * 300, "KeyTooLongError"),
    ],
)
async def test_invalid_key_path_is_refused(client, root, key, code):
    with refused(code):
        await client("put_object", Key=key, Body=b"x")
    assert [path.name for path in root.parent.rglob("*outside*")] == []


async def test_link_to_an_outside_file_is_not_followed(client, root, bucket):
    (root.parent / "secret").write_bytes(b"secret")
    (bucket / "link").symlink_to(root.parent / "secret")
    with refused("NoSuchKey"):
        await client("get_object", Key="link")
    assert "Contents" not in await client("list_objects_v2")


async def test_link_to_an_outside_directory_is_not_followed(client, root, bucket):
    (root.parent / "elsewhere").mkdir()
    (bucket / "link").symlink_to(root.parent / "elsewhere")
    with refused("KeyConflict"):
        await client("put_object", Key="link/a", Body=b"x")
    assert list((root.parent / "elsewhere").iterdir()) == []


async def test_link_is_not_a_bucket(client, root):
    (root / "linked").symlink_to(root.parent)
    with refused("NoSuchBucket"):
        await client("list_objects_v2", Bucket="linked")


async def test_write_over_a_link_replaces_the_link(client, root, bucket):
    (root.parent / "secret").write_bytes(b"secret")
    (bucket / "link").symlink_to(root.parent / "secret")
    await client("put_object", Key="link", Body=b"mine")
    assert (root.parent / "secret").read_bytes() == b"secret"
    assert (bucket / "link").read_bytes() == b"mine"


async def test_too_many_bytes_are_refused(client, bucket):
    await client("put_object", Key="a", Body=bytes(20 * 2**20))
    with refused("QuotaExceeded") as caught:
        await client("put_object", Key="b", Body=bytes(20 * 2**20))
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 507
    assert [path.name for path in bucket.iterdir()] == ["a"]


async def test_deletion_frees_quota(client):
    for key in ("a", "b"):
        await client("put_object", Key=key, Body=bytes(20 * 2**20))
        await client("delete_object", Key=key)


async def test_bytes_without_a_declared_size_count_on_arrival(store, client, bucket):
    async def body():
        for _ in range(40):
            yield bytes(2**20)

    address = {"Bucket": "the-bucket", "Key": "a"}
    url = client.raw.generate_presigned_url("put_object", Params=address)
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.put(url, content=body())
    assert (answer.status_code, list(bucket.iterdir())) == (507, [])
    assert await client("put_object", Key="b", Body=bytes(30 * 2**20))


async def test_too_many_files_are_refused(bucket, open_store, connect):
    async with open_store(max_files=4) as store:
        client = connect(store)
        for key in ("a", "b", "a", "c"):
            await client("put_object", Key=key, Body=b"")
        with refused("QuotaExceeded"):
            await client("put_object", Key="d", Body=b"")
    assert sorted(path.name for path in bucket.iterdir()) == ["a", "b", "c"]


async def test_directories_count_as_files(client):
    await client("put_object", Key="a/" * 40 + "a", Body=b"")
    with refused("QuotaExceeded"):
        await client("put_object", Key="b/" * 40 + "b", Body=b"")


async def test_existing_content_is_counted(bucket, open_store, connect):
    (bucket / "before").write_bytes(bytes(90))
    async with open_store(max_bytes=100) as store:
        with refused("QuotaExceeded"):
            await connect(store)("put_object", Key="a", Body=bytes(20))


async def test_document_with_entities_is_refused(store, client):
    document = (
        b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa">]>'
        b"<Delete><Object><Key>&a;</Key></Object></Delete>"
    )
    answer = await post_signed(client, f"{store.endpoint_url}/the-bucket?delete=", document)
    assert (answer.status_code, "MalformedXML" in answer.text) == (400, True)


async def post_signed(client, url, content):
    request = AWSRequest("POST", url, data=content)
    S3SigV4Auth(client.raw._request_signer._credentials, "s3", "us-east-1").add_auth(request)
    prepared = request.prepare()
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.post(prepared.url, headers=dict(prepared.headers), content=content)


async def test_named_pipe_is_not_an_object(client, bucket):
    await anyio.to_thread.run_sync(os.mkfifo, bucket / "pipe")
    with refused("NoSuchKey"):
        await client("get_object", Key="pipe")
