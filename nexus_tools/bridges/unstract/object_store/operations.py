"""The operations of S3 on objects and buckets that a tool's file system uses."""

import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope

from nexus_tools.bridges.unstract.object_store.file_tree import ObjectName, check_bucket_name
from nexus_tools.bridges.unstract.object_store.objects import (
    DEFAULT_HEADERS,
    ObjectInfo,
    Objects,
    Uploads,
    blocks,
)
from nexus_tools.bridges.unstract.object_store.xml_documents import (
    Content,
    S3Error,
    parse,
    parse_integer,
    texts,
    xml_response,
    xml_time,
)

MAX_METADATA_BYTES = 2_048

_REGION = "us-east-1"
# The maximum number of keys in DeleteObjects, and a document size that is sufficient for them.
_MAX_DELETED = 1_000
_MAX_DOCUMENT_BYTES = 4 * 2**20
# The smallest and largest part number of a multipart upload.
_PARTS = (1, 10_000)

# Headers that are stored with an object, in addition to headers that start with `x-amz-meta-`.
_STORED_HEADERS = frozenset(
    (
        "cache-control",
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-type",
        "expires",
    )
)


class S3Request(Request):
    """A request to a store by the path-style URL `/bucket/key`."""

    def __init__(self, scope: Scope, receive: Receive, objects: Objects, uploads: Uploads) -> None:
        super().__init__(scope, receive)
        self.objects = objects
        self.uploads = uploads
        self.bucket, _, self.key = scope["path"].removeprefix("/").partition("/")

    def object_name(self) -> ObjectName:
        """Return the name of the requested object, whose bucket must exist."""
        return self._object(self.bucket, self.key)

    def copy_source(self) -> ObjectName:
        """Return the name of the object to copy, from any bucket of the store."""
        path = unquote(self.headers["x-amz-copy-source"])
        bucket, _, key = path.removeprefix("/").partition("/")
        return self._object(bucket, key)

    def stored_headers(self) -> dict[str, str]:
        """Return the headers to store with the object and to send to its readers."""
        headers = {
            name: value
            for name, value in self.headers.items()
            if name in _STORED_HEADERS or name.startswith("x-amz-meta-")
        }
        if sum(len(name) + len(value) for name, value in headers.items()) > MAX_METADATA_BYTES:
            message = f"metadata must have at most {MAX_METADATA_BYTES} bytes"
            raise S3Error("MetadataTooLarge", message)
        return DEFAULT_HEADERS | headers

    def is_only_new(self) -> bool:
        """Return whether the write must not replace an existing object."""
        condition = self.headers.get("if-none-match")
        if "if-match" in self.headers or condition not in (None, "*"):
            raise S3Error("NotImplemented", "conditional writes with an ETag are not supported")
        return condition is not None

    async def document(self, root: str) -> Element:
        """Return the body, which is a small XML document."""
        content = bytearray()
        async for part in self.stream():
            content += part
            if len(content) > _MAX_DOCUMENT_BYTES:
                message = f"the body must have at most {_MAX_DOCUMENT_BYTES} bytes"
                raise S3Error("EntityTooLarge", message)
        return parse(bytes(content), root)

    def _object(self, bucket: str, key: str) -> ObjectName:
        name = ObjectName.parse(bucket, key)
        self.objects.check_bucket(bucket)
        return name


# --- Objects


async def read_object(request: S3Request) -> Response:
    """Handle HeadObject and GetObject, for the whole object or one range."""
    info, content = request.objects.open(request.object_name())
    with ExitStack() as stack:
        stack.enter_context(content)
        head = _head(request, info)
        if request.method == "HEAD" or head.status_code == HTTPStatus.NOT_MODIFIED:
            return head
        byte_range = _byte_range(request, info) or range(info.size)
        content.seek(byte_range.start)
        stack.pop_all()
    return StreamingResponse(_stream(content, len(byte_range)), head.status_code, head.headers)


async def put_object(request: S3Request) -> Response:
    """Handle PutObject. A key that ends in `/` is a directory without content."""
    name, only_new = request.object_name(), request.is_only_new()
    headers = request.stored_headers()
    async with request.objects.staged(request.stream()) as staged:
        info = request.objects.publish(staged, name, headers, only_new=only_new)
    return Response(headers={"etag": info.etag})


async def delete_object(request: S3Request) -> Response:
    """Handle DeleteObject. A missing object is not an error."""
    request.objects.remove(request.object_name())
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def copy_object(request: S3Request) -> Response:
    """Handle CopyObject, which replaces the headers on request."""
    target, only_new = request.object_name(), request.is_only_new()
    source, content = request.objects.open(request.copy_source())
    with content:
        replaces = request.headers.get("x-amz-metadata-directive", "").upper() == "REPLACE"
        headers = request.stored_headers() if replaces else source.headers
        async with request.objects.staged(blocks(content, source.size)) as staged:
            info = request.objects.publish(staged, target, headers, only_new=only_new)
    content_fields = {"LastModified": xml_time(info.modified), "ETag": info.etag}
    return xml_response("CopyObjectResult", content_fields)


async def delete_objects(request: S3Request) -> Response:
    """Handle DeleteObjects for each key separately. Missing objects count as deleted."""
    request.objects.check_bucket(request.bucket)
    batch = await request.document("Delete")
    keys = [key for entry in batch.iterfind("{*}Object") for key in texts(entry, "Key")]
    if not 1 <= len(keys) <= _MAX_DELETED:
        raise S3Error("MalformedXML", f"a batch must have 1 to {_MAX_DELETED} objects")
    deleted: list[dict[str, Content]] = []
    errors: list[dict[str, Content]] = []
    for key in keys:
        try:
            request.objects.remove(ObjectName.parse(request.bucket, key))
            deleted.append({"Key": key})
        except S3Error as fault:
            errors.append({"Key": key, "Code": fault.code, "Message": fault.message})
    is_quiet = batch.findtext("{*}Quiet", "").strip() == "true"
    return xml_response("DeleteResult", {"Deleted": [] if is_quiet else deleted, "Error": errors})


# --- Conditions and ranges of a read request: RFC 9110, sections 13 and 14

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def _head(request: S3Request, info: ObjectInfo) -> Response:
    """Return the status and headers for a reader, or raise `S3Error` if a condition fails."""
    headers = {
        **info.headers,
        "etag": info.etag,
        "last-modified": format_datetime(info.modified, usegmt=True),
        "accept-ranges": "bytes",
    }
    if not _matches(request.headers.get("if-match", "*"), info):
        # s3fs searches the message for `pre-conditions` to detect that a file was replaced during a
        # read.
        raise S3Error("PreconditionFailed", "the object does not satisfy the pre-conditions")
    if _matches(request.headers.get("if-none-match", ""), info):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    byte_range = _byte_range(request, info)
    headers["content-length"] = str(info.size if byte_range is None else len(byte_range))
    if byte_range is None:
        return Response(headers=headers)
    headers["content-range"] = f"bytes {byte_range.start}-{byte_range.stop - 1}/{info.size}"
    return Response(status_code=HTTPStatus.PARTIAL_CONTENT, headers=headers)


def _matches(tags: str, info: ObjectInfo) -> bool:
    etags = [tag.strip().removeprefix("W/").strip('"') for tag in tags.split(",")]
    return "*" in etags or info.etag.strip('"') in etags


def _byte_range(request: S3Request, info: ObjectInfo) -> range | None:
    """Return the positions of the requested bytes, or None for all bytes of the object.

    For an object of 10 bytes, `bytes=2-4` is 2 to 4, `bytes=7-` is 7 to 9, and `bytes=-2` is 8 to
    9. Everything except a single range of bytes is ignored, as RFC 9110 allows and S3 does.
    """
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    first, last = match.groups() if match else ("", "")
    is_backwards = first and last and int(last) < int(first)
    if is_backwards or not (first or last):
        return None
    if not first:
        positions = range(max(0, info.size - int(last)), info.size)
    else:
        positions = range(int(first), min(info.size, int(last or info.size) + 1))
    if not positions:
        message = f"the range is outside of the object, which has {info.size} bytes"
        raise S3Error("InvalidRange", message)
    return positions


async def _stream(content: BinaryIO, count: int) -> AsyncIterator[bytes]:
    with content:
        async for block in blocks(content, count):
            yield block


# --- Multipart uploads


async def create_multipart_upload(request: S3Request) -> Response:
    """Handle CreateMultipartUpload."""
    upload_id = request.uploads.create(request.object_name(), request.stored_headers())
    content = {"Bucket": request.bucket, "Key": request.key, "UploadId": upload_id}
    return xml_response("InitiateMultipartUploadResult", content)


async def upload_part(request: S3Request) -> Response:
    """Handle UploadPart."""
    if "x-amz-copy-source" in request.headers:
        raise S3Error("NotImplemented", "UploadPartCopy is not supported")
    etag = await request.uploads.add(
        request.query_params["uploadId"],
        request.object_name(),
        parse_integer(request.query_params["partNumber"], *_PARTS),
        request.stream(),
    )
    return Response(headers={"etag": etag})


async def complete_multipart_upload(request: S3Request) -> Response:
    """Handle CompleteMultipartUpload."""
    name, only_new = request.object_name(), request.is_only_new()
    document = await request.document("CompleteMultipartUpload")
    parts = [texts(part, "PartNumber", "ETag") for part in document.iterfind("{*}Part")]
    info = request.uploads.complete(
        request.query_params["uploadId"],
        name,
        [(parse_integer(number, *_PARTS), etag) for number, etag in parts],
        only_new=only_new,
    )
    content = {"Bucket": request.bucket, "Key": request.key, "ETag": info.etag}
    return xml_response("CompleteMultipartUploadResult", content)


async def abort_multipart_upload(request: S3Request) -> Response:
    """Handle AbortMultipartUpload. An upload that has already ended is not an error."""
    request.uploads.abort(request.query_params["uploadId"])
    return Response(status_code=HTTPStatus.NO_CONTENT)


# --- Buckets


async def list_buckets(request: S3Request) -> Response:
    """Handle ListBuckets."""
    buckets: list[dict[str, Content]] = [
        {"Name": name, "CreationDate": xml_time(datetime.fromtimestamp(changed, UTC))}
        for name, changed in request.objects.tree.buckets()
    ]
    return xml_response("ListAllMyBucketsResult", {"Buckets": {"Bucket": buckets}})


async def create_bucket(request: S3Request) -> Response:
    """Handle CreateBucket. The requested location is ignored."""
    place = (check_bucket_name(request.bucket),)
    if request.objects.tree.directory(place):
        message = f"the bucket {request.bucket} already exists"
        raise S3Error("BucketAlreadyOwnedByYou", message)
    request.objects.tree.make_directory(place)
    return Response()


async def head_bucket(request: S3Request) -> Response:
    """Handle HeadBucket."""
    request.objects.check_bucket(request.bucket)
    return Response(headers={"x-amz-bucket-region": _REGION})
