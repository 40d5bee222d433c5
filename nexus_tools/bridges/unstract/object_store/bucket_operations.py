"""What S3 does with buckets, and the pages of what is in them."""

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.ask import Ask, xml_response, xml_time
from nexus_tools.bridges.unstract.object_store.documents import FaultError, element, parse, text
from nexus_tools.bridges.unstract.object_store.tree import ObjectName, bucket_name

REGION = "us-east-1"

# The most that DeleteObjects takes, and room for as many keys.
_MAX_DELETED = 1_000
_MAX_DOCUMENT_BYTES = 4 * 2**20


async def list_buckets(ask: Ask) -> Response:
    """ListBuckets."""
    buckets = [
        element(
            "Bucket",
            text("Name", name),
            text("CreationDate", xml_time(datetime.fromtimestamp(changed, UTC))),
        )
        for name, changed in ask.objects.tree.buckets()
    ]
    owner = element("Owner", text("ID", "owner"))
    return xml_response("ListAllMyBucketsResult", owner, element("Buckets", *buckets))


async def create_bucket(ask: Ask) -> Response:
    """CreateBucket; where it should lie does not matter here."""
    place = (bucket_name(ask.bucket),)
    content = await ask.body.whole(_MAX_DOCUMENT_BYTES)
    if content:
        parse(content, "CreateBucketConfiguration")
    if ask.objects.tree.has_directory(place):
        raise FaultError("BucketAlreadyOwnedByYou", f"there is a bucket {ask.bucket} already")
    ask.objects.tree.make_directory(place)
    return Response(headers={"location": f"/{ask.bucket}"})


async def head_bucket(ask: Ask) -> Response:
    """HeadBucket."""
    ask.objects.check_bucket(ask.bucket)
    return Response(headers={"x-amz-bucket-region": REGION})


async def get_bucket_location(ask: Ask) -> Response:
    """GetBucketLocation: empty stands for us-east-1."""
    ask.objects.check_bucket(ask.bucket)
    return xml_response("LocationConstraint")


async def get_bucket_versioning(ask: Ask) -> Response:
    """GetBucketVersioning: never had any."""
    ask.objects.check_bucket(ask.bucket)
    return xml_response("VersioningConfiguration")


async def delete_objects(ask: Ask) -> Response:
    """DeleteObjects: each key by itself; those that are not there count as deleted."""
    ask.objects.check_bucket(ask.bucket)
    request = parse(await ask.body.whole(_MAX_DOCUMENT_BYTES), "Delete")
    keys = [entry.value("Key") for entry in request.all("Object")]
    if not 1 <= len(keys) <= _MAX_DELETED:
        raise FaultError("MalformedXML", f"a batch deletes 1 to {_MAX_DELETED} objects")
    is_quiet = any(node.text.strip() == "true" for node in request.all("Quiet"))
    results = [_delete(ask, key, is_quiet=is_quiet) for key in keys]
    return xml_response("DeleteResult", *results)


def _delete(ask: Ask, key: str, *, is_quiet: bool) -> str:
    try:
        ask.objects.remove(ObjectName.parse(ask.bucket, key))
    except FaultError as fault:
        reason = (text("Code", fault.code), text("Message", fault.message))
        return element("Error", text("Key", key), *reason)
    return "" if is_quiet else element("Deleted", text("Key", key))


# --- One page: keys in order, rolled up at a delimiter, from a place onwards

MAX_KEYS = 1_000


@dataclass(slots=True)
class Page:
    """Keys and common prefixes; `last` is where the next page goes on, if there is one."""

    keys: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    last: str = ""
    is_truncated: bool = False

    def __len__(self) -> int:
        return len(self.keys) + len(self.prefixes)


def page_of(keys: Sequence[str], prefix: str, delimiter: str, after: str, limit: int) -> Page:
    """A page of sorted keys: those that begin with `prefix` and come after `after`."""
    page = Page()
    for key in keys[bisect_right(keys, after) if after else 0 :]:
        if not key.startswith(prefix):
            continue
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        common = key[: end + len(delimiter)] if end >= 0 else ""
        if common and common in (page.last, after):
            continue
        if len(page) >= limit:
            page.is_truncated = limit > 0
            break
        (page.prefixes if common else page.keys).append(common or key)
        page.last = common or key
    return page


# --- ListObjects in both its versions


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
