"""Objects that botocore reads, writes, copies, and deletes."""

import hashlib
import os

import pytest
from botocore.exceptions import ClientError


def refused(code):
    return pytest.raises(ClientError, match=rf"\({code}\)")


async def test_version_of_an_object_has_one_etag(client):
    put_response = await client("put_object", Key="a", Body=b"content")
    head_response = await client("head_object", Key="a")
    got = await client("get_object", Key="a")
    got["Body"].close()
    assert put_response["ETag"] == head_response["ETag"] == got["ETag"]
    again = await client("put_object", Key="a", Body=b"content")
    assert again["ETag"] != put_response["ETag"]


async def test_etag_cannot_be_mistaken_for_an_md5(client):
    put_response = await client("put_object", Key="a", Body=b"content")
    assert len(bytes.fromhex(put_response["ETag"].strip('"'))) > hashlib.md5().digest_size


async def test_host_file_has_size_and_time(client, bucket):
    (bucket / "a").write_bytes(b"content")
    os.utime(bucket / "a", (1_000_000_000, 1_000_000_000))
    head_response = await client("head_object", Key="a")
    assert head_response["ContentLength"] == 7
    assert head_response["LastModified"].isoformat() == "2001-09-09T01:46:40+00:00"


async def test_etag_changes_when_the_host_rewrites_a_file(client, bucket):
    put_response = await client("put_object", Key="a", Body=b"first", ContentType="text/csv")
    (bucket / "a").write_bytes(b"second")
    head_response = await client("head_object", Key="a")
    assert head_response["ETag"] != put_response["ETag"]
    assert head_response["ContentType"] == "binary/octet-stream"


async def test_content_type_and_metadata_are_returned(client):
    await client(
        "put_object", Key="a", Body=b"x", ContentType="text/plain", Metadata={"colour": "blue"}
    )
    head_response = await client("head_object", Key="a")
    assert (head_response["ContentType"], head_response["Metadata"]) == (
        "text/plain",
        {"colour": "blue"},
    )


async def test_content_headers_are_returned(client):
    headers = {"CacheControl": "no-store", "ContentEncoding": "gzip", "ContentLanguage": "de"}
    await client("put_object", Key="a", Body=b"x", **headers)
    head_response = await client("head_object", Key="a")
    assert {name: head_response[name] for name in headers} == headers


async def test_too_large_metadata_is_refused(client):
    with refused("MetadataTooLarge"):
        await client("put_object", Key="a", Body=b"x", Metadata={"long": "x" * 2_050})


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("bytes=2-4", b"234"),
        ("bytes=7-", b"789"),
        ("bytes=-2", b"89"),
        ("bytes=8-100", b"89"),
        ("bytes=-100", b"0123456789"),
        ("bytes=4-2", b"0123456789"),
    ],
)
async def test_range_is_read(client, wanted, expected):
    await client("put_object", Key="a", Body=b"0123456789")
    assert await client.content("a", Range=wanted) == expected


async def test_range_response_has_its_position(client):
    await client("put_object", Key="a", Body=b"0123456789")
    got = await client("get_object", Key="a", Range="bytes=2-4")
    got["Body"].close()
    assert got["ResponseMetadata"]["HTTPStatusCode"] == 206
    assert got["ContentRange"] == "bytes 2-4/10"


async def test_range_of_the_whole_is_a_range(client):
    await client("put_object", Key="a", Body=b"0123456789")
    head_response = await client("head_object", Key="a", Range="bytes=0-9")
    assert head_response["ResponseMetadata"]["HTTPStatusCode"] == 206


async def test_range_after_the_end_is_refused(client):
    await client("put_object", Key="a", Body=b"0123456789")
    with refused("InvalidRange") as caught:
        await client("get_object", Key="a", Range="bytes=10-")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 416


async def test_several_ranges_return_the_whole(client):
    await client("put_object", Key="a", Body=b"0123456789")
    assert await client.content("a", Range="bytes=0-1,4-5") == b"0123456789"


async def test_unchanged_object_is_not_sent_again(client):
    put_response = await client("put_object", Key="a", Body=b"content")
    with pytest.raises(ClientError) as caught:
        await client("get_object", Key="a", IfNoneMatch=put_response["ETag"])
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 304


async def test_object_is_read_only_if_its_etag_matches(client):
    await client("put_object", Key="a", Body=b"content")
    with refused("PreconditionFailed"):
        await client("get_object", Key="a", IfMatch='"00000000000000000000000000000000"')


async def test_missing_object_is_not_found(client):
    with refused("NoSuchKey"):
        await client("get_object", Key="absent")
    with refused("404"):
        await client("head_object", Key="absent")


async def test_object_of_a_missing_bucket_is_not_found(client):
    with refused("NoSuchBucket"):
        await client("put_object", Bucket="no-bucket", Key="a", Body=b"x")


async def test_deletion_leaves_no_empty_directories(client, bucket):
    await client("put_object", Key="a/b/c", Body=b"x")
    await client("delete_object", Key="a/b/c")
    assert list(bucket.iterdir()) == []


async def test_deletion_of_a_missing_object_is_not_an_error(client):
    deleted = await client("delete_object", Key="absent/too")
    assert deleted["ResponseMetadata"]["HTTPStatusCode"] == 204


async def test_deletion_by_a_directory_name_deletes_nothing(client, bucket):
    await client("put_object", Key="run/a", Body=b"x")
    await client("delete_object", Key="run")
    await client("delete_object", Key="run/")
    assert (bucket / "run" / "a").exists()


async def test_batch_is_deleted(client, bucket):
    for key in ("a", "b", "kept"):
        await client("put_object", Key=key, Body=b"x")
    deleted = await client("delete_objects", Delete={"Objects": [{"Key": "a"}, {"Key": "b"}]})
    assert [entry["Key"] for entry in deleted["Deleted"]] == ["a", "b"]
    assert [path.name for path in bucket.iterdir()] == ["kept"]


async def test_spaces_around_a_key_are_part_of_it(client, bucket):
    for key in ("a", " a "):
        await client("put_object", Key=key, Body=b"x")
    await client("delete_objects", Delete={"Objects": [{"Key": " a "}]})
    assert [path.name for path in bucket.iterdir()] == ["a"]


async def test_invalid_key_of_a_batch_is_reported_and_the_others_are_deleted(client, bucket):
    await client("put_object", Key="a", Body=b"x")
    deleted = await client("delete_objects", Delete={"Objects": [{"Key": "../x"}, {"Key": "a"}]})
    assert [error["Code"] for error in deleted["Errors"]] == ["InvalidArgument"]
    assert list(bucket.iterdir()) == []


async def test_copy_has_the_content_and_the_metadata(client, bucket):
    await client("put_object", Key="from", Body=b"content", Metadata={"colour": "blue"})
    await client("copy_object", Key="to", CopySource="the-bucket/from")
    assert (bucket / "to").read_bytes() == b"content"
    assert (await client("head_object", Key="to"))["Metadata"] == {"colour": "blue"}


async def test_copy_onto_itself_changes_the_metadata(client):
    await client("put_object", Key="a", Body=b"content", Metadata={"colour": "blue"})
    await client(
        "copy_object",
        Key="a",
        CopySource="the-bucket/a",
        MetadataDirective="REPLACE",
        Metadata={"colour": "red"},
    )
    assert (await client("head_object", Key="a"))["Metadata"] == {"colour": "red"}
    assert await client.content("a") == b"content"


async def test_copy_supports_a_key_with_odd_characters(client):
    await client("put_object", Key="a b+c%20ü.txt", Body=b"content")
    source = {"Bucket": "the-bucket", "Key": "a b+c%20ü.txt"}
    await client("copy_object", Key="to", CopySource=source)
    assert await client.content("to") == b"content"


async def test_directory_is_an_empty_object(client, bucket):
    await client("put_object", Key="run/", Body=b"")
    assert (bucket / "run").is_dir()
    assert (await client("head_object", Key="run/"))["ContentLength"] == 0
    assert await client.content("run/") == b""
    await client("delete_object", Key="run/")
    assert not (bucket / "run").exists()


async def test_directory_has_no_content(client):
    with refused("InvalidArgument"):
        await client("put_object", Key="run/", Body=b"content")


@pytest.mark.parametrize(("first", "second"), [("a", "a/b"), ("a/b", "a")])
async def test_key_cannot_be_a_file_and_a_directory(client, first, second):
    await client("put_object", Key=first, Body=b"content")
    with refused("KeyConflict"):
        await client("put_object", Key=second, Body=b"other")
    assert await client.content(first) == b"content"


async def test_failed_write_keeps_the_object(client, bucket):
    await client("put_object", Key="a", Body=b"first")
    with refused("QuotaExceeded"):
        await client("put_object", Key="a", Body=bytes(40 * 2**20))
    assert (bucket / "a").read_bytes() == b"first"


@pytest.mark.parametrize("algorithm", ["CRC32", "SHA1", "SHA256"])
async def test_client_checksums_are_accepted(client, algorithm):
    await client("put_object", Key="a", Body=b"content", ChecksumAlgorithm=algorithm)
    assert await client.content("a") == b"content"


async def test_signed_chunks_are_refused(store, http):
    headers = {
        "authorization": f"AWS4-HMAC-SHA256 Credential={store.access_key}/",
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    }
    body = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"
    answer = await http.put(f"{store.endpoint_url}/the-bucket/a", content=body, headers=headers)
    assert (answer.status_code, "PUT Object aws-chunked" in answer.text) == (501, True)
