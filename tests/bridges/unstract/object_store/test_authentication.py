"""Who is let in: requests of clients that have the keys, and presigned addresses, for a while."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError

from nexus_tools.bridges.unstract.object_store import ObjectStore
from nexus_tools.bridges.unstract.object_store.authentication import Credentials, authenticate
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.head import Head


@pytest.fixture
async def http():
    async with httpx.AsyncClient(trust_env=False) as http:
        yield http


async def test_a_request_without_a_signature_is_refused(store, http):
    answer = await http.get(f"{store.endpoint_url}/the-bucket/a")
    assert answer.status_code == 403
    assert "<Code>AccessDenied</Code>" in answer.text


async def test_another_secret_key_is_refused(store, connect):
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        await connect(store, secret_key="x" * 40)("list_buckets")


async def test_another_access_key_is_refused(store, connect):
    with pytest.raises(ClientError, match="InvalidAccessKeyId"):
        await connect(store, access_key="NX000000000000000000")("list_buckets")


async def test_the_keys_of_an_earlier_store_are_refused(root, connect):
    async with ObjectStore(root) as earlier:
        keys = {"access_key": earlier.access_key, "secret_key": earlier.secret_key}
    async with ObjectStore(root) as later:
        with pytest.raises(ClientError, match="InvalidAccessKeyId"):
            await connect(later, **keys)("list_buckets")


async def test_a_presigned_address_reads_its_object(store, client, http):
    await client("put_object", Key="a b.txt", Body=b"content")
    url = presigned(client, "get_object", Key="a b.txt")
    answer = await http.get(url)
    assert (answer.status_code, answer.content) == (200, b"content")


async def test_a_presigned_address_writes_its_object(client, http, bucket):
    url = presigned(client, "put_object", Key="a")
    assert (await http.put(url, content=b"content")).status_code == 200
    assert (bucket / "a").read_bytes() == b"content"


async def test_a_presigned_address_is_good_for_nothing_else(client, http):
    for key in ("a", "b"):
        await client("put_object", Key=key, Body=b"content")
    url = presigned(client, "get_object", Key="a")
    answers = [await http.get(url.replace("/a?", "/b?")), await http.delete(url)]
    assert [answer.status_code for answer in answers] == [403, 403]


async def test_a_header_that_a_presigned_address_does_not_sign_is_refused(client, http):
    await client("put_object", Key="secret", Body=b"content")
    url = presigned(client, "put_object", Key="a")
    answer = await http.put(url, headers={"x-amz-copy-source": "/the-bucket/secret"})
    assert answer.status_code == 403
    assert "x-amz-copy-source" in answer.text


async def test_a_body_that_is_not_the_signed_one_is_refused(store, client, http, bucket):
    request = signed(client, "PUT", f"{store.endpoint_url}/the-bucket/a", b"content")
    answer = await http.put(request.url, headers=dict(request.headers), content=b"another")
    assert answer.status_code == 400
    assert "XAmzContentSHA256Mismatch" in answer.text
    assert not (bucket / "a").exists()


async def test_a_header_chosen_by_the_address_is_sent(client, http):
    await client("put_object", Key="a", Body=b"content")
    url = presigned(client, "get_object", Key="a", ResponseContentType="text/csv")
    assert (await http.get(url)).headers["content-type"] == "text/csv"
    wrong = presigned(client, "get_object", Key="a", ResponseContentType="a\r\nb: c")
    assert (await http.get(wrong)).status_code == 400


async def test_a_header_that_is_not_ascii_is_refused(store, http):
    headers = {b"authorization": b"AWS4-HMAC-SHA256 Credential=\xff\xfe"}
    answer = await http.get(f"{store.endpoint_url}/the-bucket/a", headers=headers)
    assert (answer.status_code, "InvalidArgument" in answer.text) == (400, True)


def presigned(client, operation, **arguments):
    return client.raw.generate_presigned_url(
        operation, Params={"Bucket": "the-bucket"} | arguments, ExpiresIn=60
    )


def signed(client, method, url, content):
    request = AWSRequest(method, url, data=content)
    request.context["payload_signing_enabled"] = True
    S3SigV4Auth(client.raw._request_signer._credentials, "s3", "us-east-1").add_auth(request)
    return request.prepare()


# The presigned request of "Authenticating requests: using query parameters" of the S3 reference.
EXAMPLE = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
EXAMPLE_TIME = datetime(2013, 5, 24, tzinfo=UTC)
EXAMPLE_HEAD = Head(
    "GET",
    "/test.txt",
    "X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
    "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
    {"host": "examplebucket.s3.amazonaws.com"},
)


def test_the_documented_presigned_request_is_authentic():
    assert authenticate(EXAMPLE_HEAD, EXAMPLE, EXAMPLE_TIME).payload == "UNSIGNED-PAYLOAD"


@pytest.mark.parametrize(
    ("after", "code"),
    [
        (timedelta(days=1, seconds=1), "AccessDenied"),
        (timedelta(minutes=-16), "RequestTimeTooSkewed"),
    ],
)
def test_a_presigned_request_has_its_time(after, code):
    with pytest.raises(FaultError) as caught:
        authenticate(EXAMPLE_HEAD, EXAMPLE, EXAMPLE_TIME + after)
    assert caught.value.code == code


# The first request of "Authenticating requests: using the Authorization header".
HEADER_HEAD = Head(
    "GET",
    "/test.txt",
    "",
    {
        "host": "examplebucket.s3.amazonaws.com",
        "range": "bytes=0-9",
        "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "x-amz-date": "20130524T000000Z",
        "authorization": "AWS4-HMAC-SHA256 "
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    },
)


def test_the_documented_request_is_authentic_within_a_quarter_of_an_hour():
    for minutes in (-15, 0, 15):
        authenticate(HEADER_HEAD, EXAMPLE, EXAMPLE_TIME + timedelta(minutes=minutes))


@pytest.mark.parametrize("minutes", [-16, 16])
def test_clocks_that_differ_by_more_are_refused(minutes):
    with pytest.raises(FaultError) as caught:
        authenticate(HEADER_HEAD, EXAMPLE, EXAMPLE_TIME + timedelta(minutes=minutes))
    assert caught.value.code == "RequestTimeTooSkewed"
