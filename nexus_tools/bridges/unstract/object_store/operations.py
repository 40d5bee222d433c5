"""What S3 does with objects and buckets, as far as a tool's file system asks for it."""

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

from nexus_tools.bridges.unstract.object_store.file_tree import ObjectName, bucket_name
from nexus_tools.bridges.unstract.object_store.objects import (
    DEFAULT_HEADERS,
    ObjectInfo,
    Objects,
    Uploads,
    blocks,
)
from nexus_tools.bridges.unstract.object_store.xml_documents import (
    Content,
    FaultError,
    parse,
    texts,
    whole_number,
    xml_response,
    xml_time,
)

MAX_METADATA_BYTES = 2_048

_REGION = "us-east-1"
# The most that DeleteObjects takes, and room for as many keys.
_MAX_DELETED = 1_000
_MAX_DOCUMENT_BYTES = 4 * 2**20
# The numbers that parts may have.
_PARTS = (1, 10_000)

# Headers that are kept with an object, as are all that begin with `x-amz-meta-`.
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
    """A request to one store, by the path-style address `/bucket/key`."""

    def __init__(self, scope: Scope, receive: Receive, objects: Objects, uploads: Uploads) -> None:
        super().__init__(scope, receive)
        self.objects = objects
        self.uploads = uploads
        self.bucket, _, self.key = scope["path"].removeprefix("/").partition("/")

    def object_name(self) -> ObjectName:
        """The object that is addressed, whose bucket must be there."""
        return self._object(self.bucket, self.key)

    def copy_source(self) -> ObjectName:
        """The object that is to be copied, from any bucket of the store."""
        path = unquote(self.headers["x-amz-copy-source"])
        bucket, _, key = path.removeprefix("/").partition("/")
        return self._object(bucket, key)

    def stored_headers(self) -> dict[str, str]:
        """The headers that come back when the object is read."""
        kept = {
            name: value
            for name, value in self.headers.items()
            if name in _STORED_HEADERS or name.startswith("x-amz-meta-")
        }
        if sum(len(name) + len(value) for name, value in kept.items()) > MAX_METADATA_BYTES:
            message = f"metadata have at most {MAX_METADATA_BYTES} bytes"
            raise FaultError("MetadataTooLarge", message)
        return DEFAULT_HEADERS | kept

    def is_only_new(self) -> bool:
        """Whether an object may only be written where there is none."""
        condition = self.headers.get("if-none-match")
        if "if-match" in self.headers or condition not in (None, "*"):
            raise FaultError("NotImplemented", "conditional writes with an ETag")
        return condition is not None

    async def document(self, root: str) -> Element:
        """The body, which is a small document."""
        content = bytearray()
        async for part in self.stream():
            content += part
            if len(content) > _MAX_DOCUMENT_BYTES:
                message = f"this body has at most {_MAX_DOCUMENT_BYTES} bytes"
                raise FaultError("EntityTooLarge", message)
        return parse(bytes(content), root)

    def _object(self, bucket: str, key: str) -> ObjectName:
        name = ObjectName.parse(bucket, key)
        self.objects.check_bucket(bucket)
        return name


# --- Objects


async def read_object(request: S3Request) -> Response:
    """HeadObject, and GetObject of the whole or of one range."""
    info, content = request.objects.open(request.object_name())
    with ExitStack() as stack:
        stack.enter_context(content)
        head = _head(request, info)
        if request.method == "HEAD" or head.status_code == HTTPStatus.NOT_MODIFIED:
            return head
        wanted = _byte_range(request, info) or range(info.size)
        content.seek(wanted.start)
        stack.pop_all()
    return StreamingResponse(_stream(content, len(wanted)), head.status_code, head.headers)


async def put_object(request: S3Request) -> Response:
    """PutObject; a key that ends in `/` is a directory and has no bytes."""
    name, only_new = request.object_name(), request.is_only_new()
    headers = request.stored_headers()
    async with request.objects.staged(request.stream()) as staged:
        info = request.objects.publish(staged, name, headers, only_new=only_new)
    return Response(headers={"etag": info.etag})


async def delete_object(request: S3Request) -> Response:
    """DeleteObject; that it was not there is no error."""
    request.objects.remove(request.object_name())
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def copy_object(request: S3Request) -> Response:
    """CopyObject, which writes new headers if the client says so."""
    target, only_new = request.object_name(), request.is_only_new()
    source, content = request.objects.open(request.copy_source())
    with content:
        replaces = request.headers.get("x-amz-metadata-directive", "").upper() == "REPLACE"
        headers = request.stored_headers() if replaces else source.headers
        async with request.objects.staged(blocks(content, source.size)) as staged:
            info = request.objects.publish(staged, target, headers, only_new=only_new)
    told = {"LastModified": xml_time(info.modified), "ETag": info.etag}
    return xml_response("CopyObjectResult", told)


async def delete_objects(request: S3Request) -> Response:
    """DeleteObjects: each key by itself; those that are not there count as deleted."""
    request.objects.check_bucket(request.bucket)
    batch = await request.document("Delete")
    keys = [key for entry in batch.iterfind("{*}Object") for key in texts(entry, "Key")]
    if not 1 <= len(keys) <= _MAX_DELETED:
        raise FaultError("MalformedXML", f"a batch deletes 1 to {_MAX_DELETED} objects")
    deleted: list[dict[str, Content]] = []
    errors: list[dict[str, Content]] = []
    for key in keys:
        try:
            request.objects.remove(ObjectName.parse(request.bucket, key))
            deleted.append({"Key": key})
        except FaultError as fault:
            errors.append({"Key": key, "Code": fault.code, "Message": fault.message})
    is_quiet = batch.findtext("{*}Quiet", "").strip() == "true"
    return xml_response("DeleteResult", {"Deleted": [] if is_quiet else deleted, "Error": errors})


# --- What a reader wants: conditions and ranges of RFC 9110, sections 13 and 14

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def _head(request: S3Request, info: ObjectInfo) -> Response:
    """The status and the headers for a reader; `FaultError` if it wants another object."""
    headers = {
        **info.headers,
        "etag": info.etag,
        "last-modified": format_datetime(info.modified, usegmt=True),
        "accept-ranges": "bytes",
    }
    if not _matches(request.headers.get("if-match", "*"), info):
        # By the word `pre-conditions` s3fs knows that a file was replaced while it was read.
        raise FaultError("PreconditionFailed", "the object does not hold the pre-conditions")
    if _matches(request.headers.get("if-none-match", ""), info):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    wanted = _byte_range(request, info)
    headers["content-length"] = str(info.size if wanted is None else len(wanted))
    if wanted is None:
        return Response(headers=headers)
    headers["content-range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{info.size}"
    return Response(status_code=HTTPStatus.PARTIAL_CONTENT, headers=headers)


def _matches(tags: str, info: ObjectInfo) -> bool:
    named = [tag.strip().removeprefix("W/").strip('"') for tag in tags.split(",")]
    return "*" in named or info.etag.strip('"') in named


def _byte_range(request: S3Request, info: ObjectInfo) -> range | None:
    """The places of the bytes that are asked for; None for all of them.

    Of 10 bytes, `bytes=2-4` is 2 to 4, `bytes=7-` is 7 to 9, `bytes=-2` is 8 to 9. Anything but
    one range of bytes is ignored, as RFC 9110 allows and S3 does.
    """
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    first, last = match.groups() if match else ("", "")
    is_backwards = first and last and int(last) < int(first)
    if is_backwards or not (first or last):
        return None
    if not first:
        wanted = range(max(0, info.size - int(last)), info.size)
    else:
        wanted = range(int(first), min(info.size, int(last or info.size) + 1))
    if not wanted:
        message = f"the object has {info.size} bytes, and the range has none of them"
        raise FaultError("InvalidRange", message)
    return wanted


async def _stream(content: BinaryIO, count: int) -> AsyncIterator[bytes]:
    with content:
        async for block in blocks(content, count):
            yield block


# --- Objects in parts


async def create_multipart_upload(request: S3Request) -> Response:
    """CreateMultipartUpload."""
    upload_id = request.uploads.create(request.object_name(), request.stored_headers())
    told = {"Bucket": request.bucket, "Key": request.key, "UploadId": upload_id}
    return xml_response("InitiateMultipartUploadResult", told)


async def upload_part(request: S3Request) -> Response:
    """UploadPart."""
    if "x-amz-copy-source" in request.headers:
        raise FaultError("NotImplemented", "UploadPartCopy")
    etag = await request.uploads.add(
        request.query_params["uploadId"],
        request.object_name(),
        whole_number(request.query_params["partNumber"], *_PARTS),
        request.stream(),
    )
    return Response(headers={"etag": etag})


async def complete_multipart_upload(request: S3Request) -> Response:
    """CompleteMultipartUpload."""
    name, only_new = request.object_name(), request.is_only_new()
    asked = await request.document("CompleteMultipartUpload")
    wanted = [texts(part, "PartNumber", "ETag") for part in asked.iterfind("{*}Part")]
    info = request.uploads.complete(
        request.query_params["uploadId"],
        name,
        [(whole_number(number, *_PARTS), etag) for number, etag in wanted],
        only_new=only_new,
    )
    told = {"Bucket": request.bucket, "Key": request.key, "ETag": info.etag}
    return xml_response("CompleteMultipartUploadResult", told)


async def abort_multipart_upload(request: S3Request) -> Response:
    """AbortMultipartUpload; that it has ended already is no error."""
    request.uploads.abort(request.query_params["uploadId"])
    return Response(status_code=HTTPStatus.NO_CONTENT)


# --- Buckets


async def list_buckets(request: S3Request) -> Response:
    """ListBuckets."""
    buckets: list[dict[str, Content]] = [
        {"Name": name, "CreationDate": xml_time(datetime.fromtimestamp(changed, UTC))}
        for name, changed in request.objects.tree.buckets()
    ]
    return xml_response("ListAllMyBucketsResult", {"Buckets": {"Bucket": buckets}})


async def create_bucket(request: S3Request) -> Response:
    """CreateBucket; where it should lie does not matter here."""
    place = (bucket_name(request.bucket),)
    if request.objects.tree.directory(place):
        message = f"there is a bucket {request.bucket} already"
        raise FaultError("BucketAlreadyOwnedByYou", message)
    request.objects.tree.make_directory(place)
    return Response()


async def head_bucket(request: S3Request) -> Response:
    """HeadBucket."""
    request.objects.check_bucket(request.bucket)
    return Response(headers={"x-amz-bucket-region": _REGION})
