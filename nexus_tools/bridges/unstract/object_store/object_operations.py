"""What S3 does with objects."""

from collections.abc import AsyncIterator
from email.utils import format_datetime
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import unquote

from starlette.responses import Response, StreamingResponse

from nexus_tools.bridges.unstract.object_store.ask import STORED_HEADERS, Ask
from nexus_tools.bridges.unstract.object_store.bucket_operations import xml_response, xml_time
from nexus_tools.bridges.unstract.object_store.conditions import byte_range, is_not_modified
from nexus_tools.bridges.unstract.object_store.documents import text
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.names import ObjectName
from nexus_tools.bridges.unstract.object_store.objects import ObjectInfo, blocks


async def head_object(ask: Ask) -> Response:
    """HeadObject."""
    name = ask.object_name()
    info = await ask.objects.info(name)
    return _answer(ask, info, None)


async def get_object(ask: Ask) -> Response:
    """GetObject, whole or one range of it."""
    name = ask.object_name()
    if name.is_directory:
        return _answer(ask, await ask.objects.info(name), None)
    content = ask.objects.open(name)
    try:
        return _answer(ask, await ask.objects.info(name, content), content)
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


def _answer(ask: Ask, info: ObjectInfo, content: BinaryIO | None) -> Response:
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
