"""What S3 does with objects; conditions and ranges are those of RFC 9110, sections 13 and 14."""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import unquote

from starlette.responses import Response, StreamingResponse

from nexus_tools.bridges.unstract.object_store.ask import (
    STORED_HEADERS,
    Ask,
    xml_response,
    xml_time,
)
from nexus_tools.bridges.unstract.object_store.documents import FaultError, Node, parse, text
from nexus_tools.bridges.unstract.object_store.objects import MAX_PART_NUMBER, ObjectInfo, blocks
from nexus_tools.bridges.unstract.object_store.tree import ObjectName


async def head_object(ask: Ask) -> Response:
    """HeadObject."""
    name = ask.object_name()
    info = await ask.objects.info(name)
    return _response(ask, info, None)


async def get_object(ask: Ask) -> Response:
    """GetObject, whole or one range of it."""
    name = ask.object_name()
    if name.is_directory:
        return _response(ask, await ask.objects.info(name), None)
    content = ask.objects.open(name)
    try:
        return _response(ask, await ask.objects.info(name, content), content)
    except BaseException:
        content.close()
        raise


async def put_object(ask: Ask) -> Response:
    """PutObject; a key that ends in `/` marks a directory and has no bytes."""
    name, only_new = ask.object_name(), ask.is_only_new()
    async with ask.objects.staged(ask.body) as staged:
        if not name.is_directory:
            ask.objects.publish(staged, name, ask.attributes(), only_new=only_new)
        elif staged.size:
            message = "a key that ends in '/' is a directory here, and has no bytes"
            raise FaultError("InvalidArgument", message)
        else:
            ask.objects.mark_directory(name)
    return Response(headers={"etag": f'"{staged.etag}"'})


async def delete_object(ask: Ask) -> Response:
    """DeleteObject; that it was not there is no error."""
    ask.objects.remove(ask.object_name())
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def copy_object(ask: Ask) -> Response:
    """CopyObject, from any bucket of the store."""
    target, source = ask.object_name(), _source(ask)
    if target.is_directory or source.is_directory:
        raise FaultError("NotImplemented", "CopyObject of a directory")
    with ask.objects.open(source) as content:
        info = await ask.objects.info(source, content)
        replaces = ask.head.headers.get("x-amz-metadata-directive", "COPY").upper() == "REPLACE"
        attributes = ask.attributes() if replaces else info.attributes
        async with ask.objects.staged(blocks(content)) as staged:
            ask.objects.publish(staged, target, attributes, only_new=ask.is_only_new())
    modified = (await ask.objects.info(target)).modified
    etag = text("ETag", f'"{staged.etag}"')
    return xml_response("CopyObjectResult", text("LastModified", xml_time(modified)), etag)


def _source(ask: Ask) -> ObjectName:
    conditions = [name for name in ask.head.headers if name.startswith("x-amz-copy-source-")]
    if conditions:
        raise FaultError("NotImplemented", f"CopyObject with {', '.join(conditions)}")
    source = unquote(ask.head.headers["x-amz-copy-source"])
    path, _, version = source.partition("?versionId=")
    if version:
        raise FaultError("NotImplemented", "CopyObject of a version")
    bucket, _, key = path.removeprefix("/").partition("/")
    name = ObjectName.parse(bucket, key)
    ask.objects.check_bucket(bucket)
    return name


def _response(ask: Ask, info: ObjectInfo, content: BinaryIO | None) -> Response:
    headers = _headers(ask, info)
    if is_not_modified(ask.head.headers, info.etag, info.modified.replace(microsecond=0)):
        if content is not None:
            content.close()
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    wanted = byte_range(ask.head.headers.get("range"), info.size)
    first, end = wanted or (0, info.size)
    headers["content-length"] = str(end - first)
    if wanted:
        headers["content-range"] = f"bytes {first}-{end - 1}/{info.size}"
    status = HTTPStatus.PARTIAL_CONTENT if wanted else HTTPStatus.OK
    if content is None:
        return Response(status_code=status, headers=headers)
    content.seek(first)
    return StreamingResponse(_stream(content, end - first), status, headers)


def _headers(ask: Ask, info: ObjectInfo) -> dict[str, str]:
    headers = {
        **info.attributes.headers,
        "etag": f'"{info.etag}"',
        "last-modified": format_datetime(info.modified, usegmt=True),
        "accept-ranges": "bytes",
    }
    chosen = {name: ask.parameters.get(f"response-{name}") for name in STORED_HEADERS}
    wrong = [name for name, value in chosen.items() if value and not _is_header(value)]
    if wrong:
        raise FaultError("InvalidArgument", f"response-{wrong[0]} is no header's value")
    return headers | {name: value for name, value in chosen.items() if value is not None}


def _is_header(value: str) -> bool:
    return value.isascii() and value.isprintable()


async def _stream(content: BinaryIO, count: int) -> AsyncIterator[bytes]:
    with content:
        async for block in blocks(content, count):
            yield block


# --- Conditions and ranges

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def is_not_modified(headers: Mapping[str, str], etag: str, modified: datetime) -> bool:
    """Whether a reader has the object already; `PreconditionFailed` if it wants another one."""
    if_match = headers.get("if-match")
    if if_match is not None:
        holds = _names(if_match, etag)
    else:
        unmodified_since = _time(headers.get("if-unmodified-since"))
        holds = unmodified_since is None or modified <= unmodified_since
    if not holds:
        raise FaultError("PreconditionFailed", "the object is not the one that is asked for")
    if_none_match = headers.get("if-none-match")
    if if_none_match is not None:
        return _names(if_none_match, etag)
    modified_since = _time(headers.get("if-modified-since"))
    return modified_since is not None and modified <= modified_since


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte that is asked for and the one behind the last; None for all of them.

    Anything but one range of bytes is ignored, as RFC 9110 allows and S3 does.
    """
    match = _RANGE.fullmatch((header or "").strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        first, end = max(0, size - int(match[2])), size
    else:
        first, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
    if match[2] and match[1] and int(match[2]) < first:
        return None
    if first >= end:
        message = f"the object has {size} bytes, and the range has none of them"
        raise FaultError("InvalidRange", message, headers={"content-range": f"bytes */{size}"})
    return first, end


def _names(header: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")]
    return "*" in tags or etag in tags


def _time(header: str | None) -> datetime | None:
    if header is None:
        return None
    try:
        parsed = parsedate_to_datetime(header)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


# --- In parts

_MAX_DOCUMENT_BYTES = 4 * 2**20


async def create_multipart_upload(ask: Ask) -> Response:
    """CreateMultipartUpload."""
    upload_id = ask.uploads.create(_file_name(ask), ask.attributes())
    return xml_response(
        "InitiateMultipartUploadResult", *_address(ask), text("UploadId", upload_id)
    )


async def upload_part(ask: Ask) -> Response:
    """UploadPart."""
    if "x-amz-copy-source" in ask.head.headers:
        raise FaultError("NotImplemented", "UploadPartCopy")
    number = _part_number(ask.parameters["partNumber"])
    etag = await ask.uploads.add(ask.parameters["uploadId"], _file_name(ask), number, ask.body)
    return Response(headers={"etag": f'"{etag}"'})


async def complete_multipart_upload(ask: Ask) -> Response:
    """CompleteMultipartUpload."""
    name, only_new = _file_name(ask), ask.is_only_new()
    request = parse(await ask.body.whole(_MAX_DOCUMENT_BYTES), "CompleteMultipartUpload")
    wanted = [_wanted(part) for part in request.all("Part")]
    etag = ask.uploads.complete(ask.parameters["uploadId"], name, wanted, only_new=only_new)
    address = _address(ask)
    return xml_response(
        "CompleteMultipartUploadResult",
        text("Location", f"/{ask.bucket}/{ask.key}"),
        *address,
        text("ETag", f'"{etag}"'),
    )


async def abort_multipart_upload(ask: Ask) -> Response:
    """AbortMultipartUpload."""
    ask.uploads.abort(ask.parameters["uploadId"], _file_name(ask))
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _file_name(ask: Ask) -> ObjectName:
    name = ask.object_name()
    if name.is_directory:
        raise FaultError("InvalidArgument", "a key that ends in '/' is a directory here")
    return name


def _address(ask: Ask) -> tuple[str, str]:
    return text("Bucket", ask.bucket), text("Key", ask.key)


def _wanted(part: Node) -> tuple[int, str]:
    return _part_number(part.value("PartNumber")), part.value("ETag")


def _part_number(value: str) -> int:
    is_number = value.isascii() and value.isdigit() and len(value) <= 5
    if not is_number or not 1 <= int(value) <= MAX_PART_NUMBER:
        raise FaultError("InvalidArgument", f"a part's number is 1 to {MAX_PART_NUMBER}")
    return int(value)
