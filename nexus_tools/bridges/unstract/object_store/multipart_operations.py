"""What S3 does with objects that come in parts."""

from http import HTTPStatus

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.ask import Ask
from nexus_tools.bridges.unstract.object_store.bucket_operations import xml_response
from nexus_tools.bridges.unstract.object_store.documents import Node, parse, text
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.names import ObjectName
from nexus_tools.bridges.unstract.object_store.uploads import MAX_PART_NUMBER

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
