"""Chunked uploads as the S3 API reference shows them: 65 KiB of `a` in chunks of 64 KiB."""

import pytest

from nexus_tools.bridges.unstract.object_store.authentication import Authenticated
from nexus_tools.bridges.unstract.object_store.chunked import (
    SIGNED,
    SIGNED_WITH_TRAILER,
    UNSIGNED_WITH_TRAILER,
    ChunkedBody,
)
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.signature import Scope, signing_key

SCOPE = Scope("20130524", "us-east-1", "s3")
KEY = signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", SCOPE)

# "Transferring payload in multiple chunks (chunked upload)", its seed and three chunks.
SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
CHUNKS = (
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
)
# "Including trailing headers (chunked upload)", the same with a checksum behind it.
TRAILER_SEED = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
TRAILER_CHUNKS = (
    "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
    "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
    "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
)
TRAILER = (
    b"x-amz-checksum-crc32c:sOO8/Q==\r\n"
    b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n"
)


def chunk(size, signed):
    return b"%x;chunk-signature=%s\r\n" % (size, signed.encode()) + b"a" * size


def encoded(signatures):
    first, second, last = signatures
    return chunk(65_536, first) + b"\r\n" + chunk(1_024, second) + b"\r\n" + chunk(0, last)


async def decode(content, payload, seed, step=10_000):
    async def raw():
        for start in range(0, len(content), step):
            yield content[start : start + step]

    body = ChunkedBody(raw(), Authenticated(payload, "20130524T000000Z", SCOPE, seed, KEY))
    data = b"".join([part async for part in body.data()])
    return data, body.trailer


@pytest.mark.parametrize("step", [7, 10_000, 1_000_000])
async def test_signed_chunks_are_decoded_however_they_arrive(step):
    content = encoded(CHUNKS) + b"\r\n"
    assert await decode(content, SIGNED, SEED, step) == (b"a" * 66_560, {})


async def test_signed_trailing_headers_are_read():
    content = encoded(TRAILER_CHUNKS) + TRAILER + b"\r\n"
    data, trailer = await decode(content, SIGNED_WITH_TRAILER, TRAILER_SEED)
    assert data == b"a" * 66_560
    assert trailer["x-amz-checksum-crc32c"] == "sOO8/Q=="


async def test_a_changed_chunk_is_refused():
    content = encoded(CHUNKS).replace(b"aaaa\r\n400;", b"aaab\r\n400;") + b"\r\n"
    with pytest.raises(FaultError, match="signature of a chunk") as caught:
        await decode(content, SIGNED, SEED)
    assert caught.value.code == "SignatureDoesNotMatch"


async def test_a_changed_trailing_header_is_refused():
    content = encoded(TRAILER_CHUNKS) + TRAILER.replace(b"sOO8", b"sOO9") + b"\r\n"
    with pytest.raises(FaultError) as caught:
        await decode(content, SIGNED_WITH_TRAILER, TRAILER_SEED)
    assert caught.value.code == "SignatureDoesNotMatch"


async def test_a_missing_last_chunk_is_refused():
    content = chunk(65_536, CHUNKS[0]) + b"\r\n"
    with pytest.raises(FaultError, match="ends too early"):
        await decode(content, SIGNED, SEED)


async def test_unsigned_chunks_are_taken_only_where_the_request_says_so():
    content = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"
    data, trailer = await decode(content, UNSIGNED_WITH_TRAILER, SEED)
    assert (data, trailer) == (b"hello", {"x-amz-checksum-crc32": "NhCmhg=="})
    with pytest.raises(FaultError, match="does not begin"):
        await decode(content, SIGNED, SEED)


@pytest.mark.parametrize(
    "content", [b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"4\r\nhello\r\n", b"1" * 5_000]
)
async def test_what_is_no_chunk_is_refused(content):
    with pytest.raises(FaultError) as caught:
        await decode(content, UNSIGNED_WITH_TRAILER, SEED)
    assert caught.value.code == "IncompleteBody"
