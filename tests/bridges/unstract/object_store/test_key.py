"""Access control: requests must name the key of this store, in a header or a URL."""

import pytest
from botocore.exceptions import ClientError

from nexus_tools.bridges.unstract.object_store import ObjectStore


async def test_request_without_a_key_is_refused(store, http):
    answer = await http.get(f"{store.endpoint_url}/the-bucket/a")
    assert answer.status_code == 403
    assert "<Code>AccessDenied</Code>" in answer.text


async def test_wrong_access_key_is_refused(store, connect):
    with pytest.raises(ClientError, match="InvalidAccessKeyId"):
        await connect(store, access_key="NX000000000000000000")("list_buckets")


async def test_key_of_an_earlier_store_is_refused(open_store, connect):
    async with open_store() as earlier:
        key = earlier.access_key
    async with open_store() as later:
        with pytest.raises(ClientError, match="InvalidAccessKeyId"):
            await connect(later, access_key=key)("list_buckets")


async def test_presigned_url_reads_its_object(store, client, http):
    await client("put_object", Key="a b.txt", Body=b"content")
    url = presigned(client, "get_object", Key="a b.txt")
    answer = await http.get(url)
    assert (answer.status_code, answer.content) == (200, b"content")


async def test_presigned_url_writes_its_object(client, http, bucket):
    url = presigned(client, "put_object", Key="a")
    assert (await http.put(url, content=b"content")).status_code == 200
    assert (bucket / "a").read_bytes() == b"content"


async def test_non_ascii_key_is_refused(store, http):
    headers = {b"authorization": b"AWS4-HMAC-SHA256 Credential=\xff\xfe/"}
    answer = await http.get(f"{store.endpoint_url}/the-bucket/a", headers=headers)
    assert (answer.status_code, "InvalidAccessKeyId" in answer.text) == (403, True)


def presigned(client, operation, **arguments):
    return client.raw.generate_presigned_url(
        operation, Params={"Bucket": "the-bucket"} | arguments, ExpiresIn=60
    )


@pytest.mark.parametrize(
    "credential",
    [
        "Credential=/20130524/us-east-1/s3/aws4_request",
        "Credential={key}",
        "Credential={key}0/20130524/us-east-1/s3/aws4_request",
        "Credential={half}/20130524/us-east-1/s3/aws4_request",
    ],
)
async def test_partial_or_extended_key_is_refused(store, http, credential):
    named = credential.format(key=store.access_key, half=store.access_key[:-1])
    headers = {"authorization": f"AWS4-HMAC-SHA256 {named}, SignedHeaders=host, Signature=0"}
    answer = await http.get(f"{store.endpoint_url}/the-bucket", headers=headers)
    assert answer.status_code == 403


async def test_key_has_128_random_bits(store):
    assert len(bytes.fromhex(store.access_key.removeprefix("NX"))) == 16


def test_key_is_not_in_the_repr():
    assert "SECRET" not in repr(ObjectStore("http://127.0.0.1:1", "NXSECRET"))
