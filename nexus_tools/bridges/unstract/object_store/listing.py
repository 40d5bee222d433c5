"""ListObjectsV2: pages of the keys of a bucket."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.objects import ObjectInfo
from nexus_tools.bridges.unstract.object_store.operations import S3Request
from nexus_tools.bridges.unstract.object_store.xml_documents import (
    Content,
    S3Error,
    parse_integer,
    xml_response,
    xml_time,
)

MAX_KEYS = 1_000


async def list_objects(request: S3Request) -> Response:
    """Handle ListObjectsV2. The continuation token is the last key of the previous page."""
    parameters = request.query_params
    if parameters.get("list-type") != "2":
        raise S3Error("NotImplemented", "only version 2 of ListObjects is supported")
    request.objects.check_bucket(request.bucket)
    prefix = parameters.get("prefix", "")
    limit = min(parse_integer(parameters.get("max-keys") or "1000", 0, 10**9), MAX_KEYS)
    after = parameters.get("continuation-token") or parameters.get("start-after", "")
    objects = request.objects.list(request.bucket, prefix)
    page = build_page(sorted(objects), prefix, parameters.get("delimiter", ""), after, limit)
    is_encoded = parameters.get("encoding-type") == "url"
    write = quote if is_encoded else str
    content: dict[str, Content] = {
        "Name": request.bucket,
        "Prefix": write(prefix),
        "KeyCount": len(page),
        "MaxKeys": limit,
        "IsTruncated": "true" if page.is_truncated else "false",
        "Contents": [_entry(write(key), objects[key]) for key in page.keys],
        "CommonPrefixes": [{"Prefix": write(common)} for common in page.prefixes],
    }
    if is_encoded:
        content["EncodingType"] = "url"
    if page.is_truncated:
        content["NextContinuationToken"] = page.last
    return xml_response("ListBucketResult", content)


def _entry(key: str, info: ObjectInfo) -> dict[str, Content]:
    return {
        "Key": key,
        "LastModified": xml_time(info.modified),
        "ETag": info.etag,
        "Size": info.size,
        "StorageClass": "STANDARD",
    }


# --- One page: keys in order from a position, grouped by a delimiter


@dataclass(slots=True)
class Page:
    """One page of keys and common prefixes.

    `last` is the start of the next page if the page `is_truncated`.
    """

    keys: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    last: str = ""
    is_truncated: bool = False

    def __len__(self) -> int:
        return len(self.keys) + len(self.prefixes)


def build_page(keys: Sequence[str], prefix: str, delimiter: str, after: str, limit: int) -> Page:
    """Return a page of the sorted keys that start with `prefix` and follow `after`.

    For example, with the delimiter `/` the keys `a.txt`, `photos/x`, `photos/y` become the key
    `a.txt` and the common prefix `photos/`.
    """
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
