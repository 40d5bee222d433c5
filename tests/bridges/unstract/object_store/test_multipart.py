"""Multipart uploads."""

import pytest
from botocore.exceptions import ClientError


def refused(code):
    return pytest.raises(ClientError, match=rf"\({code}\)")


@pytest.fixture
async def upload(client):
    created = await client("create_multipart_upload", Key="whole", ContentType="text/plain")
    return created["UploadId"]


async def put(client, upload, number, content):
    answer = await client(
        "upload_part", Key="whole", UploadId=upload, PartNumber=number, Body=content
    )
    return {"PartNumber": number, "ETag": answer["ETag"]}


async def complete(client, upload, parts):
    return await client(
        "complete_multipart_upload", Key="whole", UploadId=upload, MultipartUpload={"Parts": parts}
    )


async def test_parts_become_one_object_in_the_order_of_their_numbers(client, upload, bucket):
    second = await put(client, upload, 2, b"world")
    first = await put(client, upload, 1, b"hello ")
    assert list(bucket.iterdir()) == []
    await complete(client, upload, [first, second])
    assert (bucket / "whole").read_bytes() == b"hello world"
    assert (await client("head_object", Key="whole"))["ContentType"] == "text/plain"


async def test_completed_object_has_the_reported_etag(client, upload):
    parts = [
        await put(client, upload, number, content) for number, content in ((1, b"a"), (3, b"b"))
    ]
    completed = await complete(client, upload, parts)
    assert (await client("head_object", Key="whole"))["ETag"] == completed["ETag"]


async def test_repeated_part_replaces_the_first(client, upload, bucket):
    await put(client, upload, 1, b"wrong")
    await complete(client, upload, [await put(client, upload, 1, b"right")])
    assert (bucket / "whole").read_bytes() == b"right"


async def test_missing_part_is_refused(client, upload):
    await put(client, upload, 1, b"a")
    with refused("InvalidPart"):
        await complete(client, upload, [{"PartNumber": 2, "ETag": '"' + "0" * 32 + '"'}])


async def test_unordered_parts_are_refused(client, upload):
    parts = [await put(client, upload, number, b"a") for number in (1, 2)]
    with refused("InvalidPartOrder"):
        await complete(client, upload, parts[::-1])


async def test_aborted_upload_is_gone(client, upload):
    part = await put(client, upload, 1, b"a")
    await client("abort_multipart_upload", Key="whole", UploadId=upload)
    with refused("NoSuchUpload"):
        await complete(client, upload, [part])


async def test_upload_belongs_to_its_key(client, upload):
    with refused("NoSuchUpload"):
        await client("upload_part", Key="other", UploadId=upload, PartNumber=1, Body=b"a")


async def test_abort_frees_the_bytes(client, upload):
    await put(client, upload, 1, bytes(20 * 2**20))
    with refused("QuotaExceeded"):
        await client("put_object", Key="a", Body=bytes(20 * 2**20))
    await client("abort_multipart_upload", Key="whole", UploadId=upload)
    await client("put_object", Key="a", Body=bytes(20 * 2**20))


async def test_completion_keeps_the_bytes_counted(client, upload):
    await complete(client, upload, [await put(client, upload, 1, bytes(20 * 2**20))])
    with refused("QuotaExceeded"):
        await client("put_object", Key="a", Body=bytes(20 * 2**20))
    await client("delete_object", Key="whole")
    await client("put_object", Key="a", Body=bytes(20 * 2**20))


async def test_parts_of_more_than_half_the_quota_are_joined(client, upload, bucket):
    sizes = (12 * 2**20, 12 * 2**20, 3)
    parts = [await put(client, upload, 1 + i, bytes(size)) for i, size in enumerate(sizes)]
    await complete(client, upload, parts)
    assert (bucket / "whole").stat().st_size == sum(sizes)


async def test_failed_completion_frees_the_bytes(client, upload):
    part = await put(client, upload, 1, bytes(20 * 2**20))
    await client("put_object", Key="whole/clash", Body=b"")
    with refused("KeyConflict"):
        await complete(client, upload, [part])
    await client("put_object", Key="a", Body=bytes(20 * 2**20))
    await client("abort_multipart_upload", Key="whole", UploadId=upload)
