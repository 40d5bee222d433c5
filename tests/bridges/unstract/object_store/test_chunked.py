"""Chunked uploads as the S3 API reference shows them: 65 KiB of `a` in chunks of 64 KiB."""

import pytest

from nexus_tools.bridges.unstract.object_store.documents import FaultError
from nexus_tools.bridges.unstract.object_store.request import Body, Head

# "Transferring payload in multiple chunks (chunked upload)", its three chunks.
CHUNKS = (
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
)
# "Including trailing headers (chunked upload)", a checksum behind the data.
TRAILER = (
    b"x-amz-checksum-crc32c:sOO8/Q==\r\n"
    b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n"
)
SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
SIGNED_WITH_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_WITH_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def chunk(size, signed):
    return b"%x;chunk-signature=%s\r\n" % (size, signed.encode()) + b"a" * size


def encoded():
    first, second, last = CHUNKS
    return chunk(65_536, first) + b"\r\n" + chunk(1_024, second) + b"\r\n" + chunk(0, last)


async def decode(content, payload, step=10_000, size=None):
    async def raw():
        for start in range(0, len(content), step):
            yield content[start : start + step]

    headers = {"x-amz-content-sha256": payload}
    if size is not None:
        headers["x-amz-decoded-content-length"] = str(size)
    body = Body(raw(), Head("PUT", "/a", "", headers))
    return b"".join([part async for part in body.parts()])


@pytest.mark.parametrize("step", [7, 10_000, 1_000_000])
async def test_signed_chunks_are_decoded_however_they_arrive(step):
    assert await decode(encoded() + b"\r\n", SIGNED, step, 66_560) == b"a" * 66_560


async def test_trailing_headers_are_no_data():
    content = encoded() + TRAILER + b"\r\n"
    assert await decode(content, SIGNED_WITH_TRAILER) == b"a" * 66_560


async def test_unsigned_chunks_are_decoded():
    content = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"
    assert await decode(content, UNSIGNED_WITH_TRAILER, size=5) == b"hello"


async def test_a_body_of_another_size_than_declared_is_refused():
    with pytest.raises(FaultError) as caught:
        await decode(encoded() + b"\r\n", SIGNED, size=66_561)
    assert caught.value.code == "IncompleteBody"


async def test_a_missing_last_chunk_is_refused():
    with pytest.raises(FaultError, match="ends too early"):
        await decode(chunk(65_536, CHUNKS[0]) + b"\r\n", SIGNED)


@pytest.mark.parametrize(
    "content", [b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"4\r\nhello\r\n", b"1" * 5_000]
)
async def test_what_is_no_chunk_is_refused(content):
    with pytest.raises(FaultError) as caught:
        await decode(content, UNSIGNED_WITH_TRAILER)
    assert caught.value.code == "IncompleteBody"
