"""ListObjects in both its versions: the pages of a listing as documents."""

import base64
import binascii
from collections.abc import Callable
from urllib.parse import quote

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.ask import Ask
from nexus_tools.bridges.unstract.object_store.bucket_operations import xml_response, xml_time
from nexus_tools.bridges.unstract.object_store.documents import element, text
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.listing import MAX_KEYS, Page, page_of
from nexus_tools.bridges.unstract.object_store.names import ObjectName


async def list_objects(ask: Ask) -> Response:
    """ListObjects or, with `list-type=2`, ListObjectsV2."""
    version = ask.parameters.get("list-type", "1")
    if version not in ("1", "2"):
        raise FaultError("InvalidArgument", "list-type is 2 or absent")
    ask.objects.check_bucket(ask.bucket)
    return await (_second(ask) if version == "2" else _first(ask))


async def _first(ask: Ask) -> Response:
    marker = ask.parameters.get("marker", "")
    page = _page(ask, marker)
    write = _writer(ask)
    next_marker = [text("NextMarker", write(page.last))] if page.is_truncated else []
    return await _document(ask, page, text("Marker", write(marker)), *next_marker)


async def _second(ask: Ask) -> Response:
    token = ask.parameters.get("continuation-token", "")
    start = ask.parameters.get("start-after", "")
    page = _page(ask, _from_token(token) if token else start)
    given = [text("ContinuationToken", token)] if token else []
    if start:
        given.append(text("StartAfter", _writer(ask)(start)))
    if page.is_truncated:
        given.append(text("NextContinuationToken", _to_token(page.last)))
    return await _document(ask, page, text("KeyCount", len(page)), *given)


def _page(ask: Ask, after: str) -> Page:
    prefix = ask.parameters.get("prefix", "")
    delimiter = ask.parameters.get("delimiter", "")
    keys = ask.objects.keys(ask.bucket, prefix)
    return page_of(keys, prefix, delimiter, after, _limit(ask))


async def _document(ask: Ask, page: Page, *given: str) -> Response:
    write = _writer(ask)
    head = [text("Name", ask.bucket), text("Prefix", write(ask.parameters.get("prefix", "")))]
    if "delimiter" in ask.parameters:
        head.append(text("Delimiter", write(ask.parameters["delimiter"])))
    if "encoding-type" in ask.parameters:
        head.append(text("EncodingType", "url"))
    head.append(text("MaxKeys", _limit(ask)))
    head.append(text("IsTruncated", "true" if page.is_truncated else "false"))
    contents = [await _contents(ask, key, write(key)) for key in page.keys]
    prefixes = [
        element("CommonPrefixes", text("Prefix", write(prefix))) for prefix in page.prefixes
    ]
    return xml_response("ListBucketResult", *head, *given, *contents, *prefixes)


async def _contents(ask: Ask, key: str, written: str) -> str:
    try:
        info = await ask.objects.info(ObjectName.parse(ask.bucket, key))
    except FaultError:
        # Deleted since the keys were read, or a path that is longer than a key can be.
        return ""
    return element(
        "Contents",
        text("Key", written),
        text("LastModified", xml_time(info.modified)),
        text("ETag", f'"{info.etag}"'),
        text("Size", info.size),
        text("StorageClass", "STANDARD"),
    )


def _limit(ask: Ask) -> int:
    value = ask.parameters.get("max-keys", "") or str(MAX_KEYS)
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise FaultError("InvalidArgument", "max-keys is no number from 0 on")
    return min(int(value), MAX_KEYS)


def _writer(ask: Ask) -> Callable[[str], str]:
    encoding = ask.parameters.get("encoding-type")
    if encoding not in (None, "url"):
        raise FaultError("InvalidArgument", "encoding-type is url or absent")
    return quote if encoding else str


def _to_token(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode()


def _from_token(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        message = "the continuation token is not one of this store"
        raise FaultError("InvalidArgument", message) from error
