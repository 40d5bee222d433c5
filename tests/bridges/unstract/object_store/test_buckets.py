"""Buckets, and the features that this store does not support."""

import pytest
from botocore.exceptions import ClientError


async def test_directories_of_the_root_are_buckets(client, root):
    (root / "another").mkdir()
    (root / "No Bucket").mkdir()
    (root / "a-file").write_bytes(b"")
    response = await client("list_buckets")
    assert [bucket["Name"] for bucket in response["Buckets"]] == ["another", "the-bucket"]


async def test_bucket_is_created_once(client, root):
    await client("create_bucket", Bucket="made-now")
    assert (root / "made-now").is_dir()
    with pytest.raises(ClientError, match="BucketAlreadyOwnedByYou"):
        await client("create_bucket", Bucket="made-now")


async def test_head_bucket_reports_existence(client):
    assert (await client("head_bucket"))["ResponseMetadata"]["HTTPStatusCode"] == 200
    with pytest.raises(ClientError, match="404"):
        await client("head_bucket", Bucket="absent")


async def test_invalid_bucket_name_is_refused(client):
    with pytest.raises(ClientError, match="InvalidBucketName"):
        await client("create_bucket", Bucket="A_B")


@pytest.mark.parametrize(
    ("operation", "arguments", "asked"),
    [
        ("get_bucket_acl", {}, "GET Bucket acl"),
        ("get_bucket_location", {}, "GET Bucket location"),
        ("get_object_tagging", {"Key": "a"}, "GET Object tagging"),
        ("delete_bucket", {}, "DELETE Bucket"),
        ("list_parts", {"Key": "a", "UploadId": "1"}, "GET Object uploadId"),
        ("get_object", {"Key": "a", "VersionId": "1"}, "GET Object versionId"),
        ("get_object", {"Key": "a", "ResponseExpires": 0}, "GET Object response-expires"),
        ("get_object", {"Key": "a", "IfUnmodifiedSince": 0}, "GET Object if-unmodified-since"),
    ],
)
async def test_missing_feature_is_named(client, operation, arguments, asked):
    with pytest.raises(ClientError, match=rf"\(NotImplemented\).*{asked}") as caught:
        await client(operation, **arguments)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501


async def test_encryption_is_refused_instead_of_ignored(client):
    with pytest.raises(ClientError, match="NotImplemented"):
        await client("put_object", Key="a", Body=b"x", ServerSideEncryption="AES256")
