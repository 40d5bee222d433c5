"""The store as an ASGI application: check the key, find the operation, respond, never break."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nexus_tools.bridges.unstract.object_store import bucket_operations as buckets
from nexus_tools.bridges.unstract.object_store import object_operations as objects
from nexus_tools.bridges.unstract.object_store.ask import STORED_HEADERS, XML, Ask
from nexus_tools.bridges.unstract.object_store.bucket_operations import list_objects
from nexus_tools.bridges.unstract.object_store.documents import FaultError, error_document
from nexus_tools.bridges.unstract.object_store.objects import Objects, Uploads
from nexus_tools.bridges.unstract.object_store.request import Body, Head, check_key
from nexus_tools.logs import get_logger

_log = get_logger("nexus_tools.bridges.unstract")


class Service:
    """Answers requests about the objects of one store."""

    def __init__(self, access_key: str, objects: Objects, uploads: Uploads) -> None:
        self._access_key = access_key
        self._objects = objects
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        stream = request.stream()
        request_id = secrets.token_hex(8)
        try:
            response = await self._respond(request, stream)
        except ClientDisconnect:
            return
        except FaultError as fault:
            response = _fault_response(fault, request, request_id)
            if not await self._drain(request, stream):
                response.headers["connection"] = "close"
        except Exception:  # noqa: BLE001 - the edge of a server
            _log.exception("object_store_broke", method=request.method, path=request.url.path)
            broke = FaultError("InternalError", "the store broke", headers={"connection": "close"})
            response = _fault_response(broke, request, request_id)
        response.headers["x-amz-request-id"] = request_id
        await response(scope, receive, send)

    async def _respond(self, request: Request, stream: AsyncIterator[bytes]) -> Response:
        head = Head.of(dict(request.scope))
        check_key(head, self._access_key)
        parameters = head.parameters()
        bucket, key = head.bucket_and_key()
        operation = operation_of(head, parameters, bucket, key)
        body = Body(stream, head)
        return await operation(
            Ask(head, parameters, bucket, key, body, self._objects, self._uploads)
        )

    async def _drain(self, request: Request, stream: AsyncIterator[bytes]) -> bool:
        """Read what a client still sends, so that it comes to read the response.

        Says whether that is all. One that waits for `100 Continue` sends nothing until the body is
        read.
        """
        if "expect" in request.headers:
            return False
        left = self._objects.quota.max_bytes
        with suppress(ClientDisconnect, RuntimeError):
            async for part in stream:
                left -= len(part)
                if left < 0:
                    return False
            return True
        return False


def _fault_response(fault: FaultError, request: Request, request_id: str) -> Response:
    # As it was sent, percent-encoded: XML cannot carry every character that it may stand for.
    path = request.scope["raw_path"].decode("ascii", "replace")
    content = error_document(fault, path, request_id)
    return Response(content, fault.status, media_type=XML, headers=fault.headers)


# --- Which operation a request asks for: a table by method, level and subresource

Operation = Callable[[Ask], Awaitable[Response]]

_OPERATIONS: dict[tuple[str, str, str], Operation] = {
    ("GET", "Service", ""): buckets.list_buckets,
    ("PUT", "Bucket", ""): buckets.create_bucket,
    ("HEAD", "Bucket", ""): buckets.head_bucket,
    ("GET", "Bucket", ""): list_objects,
    ("GET", "Bucket", "location"): buckets.get_bucket_location,
    ("GET", "Bucket", "versioning"): buckets.get_bucket_versioning,
    ("POST", "Bucket", "delete"): buckets.delete_objects,
    ("HEAD", "Object", ""): objects.head_object,
    ("GET", "Object", ""): objects.get_object,
    ("PUT", "Object", ""): objects.put_object,
    ("PUT", "Object", "copy"): objects.copy_object,
    ("DELETE", "Object", ""): objects.delete_object,
    ("POST", "Object", "uploads"): objects.create_multipart_upload,
    ("PUT", "Object", "partNumber+uploadId"): objects.upload_part,
    ("POST", "Object", "uploadId"): objects.complete_multipart_upload,
    ("DELETE", "Object", "uploadId"): objects.abort_multipart_upload,
}

# Parameters that say how, not what; any other one makes it another operation.
_PARAMETERS = frozenset(
    (
        "continuation-token",
        "delimiter",
        "encoding-type",
        "fetch-owner",
        "list-type",
        "marker",
        "max-keys",
        "prefix",
        *(f"response-{name}" for name in STORED_HEADERS),
        "start-after",
        "x-id",
    )
)
# Headers that change what is stored in ways that this store does not know.
_UNKNOWN_HEADERS = (
    "x-amz-object-lock-",
    "x-amz-server-side-encryption",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
)


def operation_of(head: Head, parameters: dict[str, str], bucket: str, key: str) -> Operation:
    """The operation, or `NotImplemented` with its name."""
    level = "Object" if key else "Bucket" if bucket else "Service"
    subresources = sorted(
        name
        for name in parameters
        if name not in _PARAMETERS and not name.lower().startswith("x-amz-")
    )
    subresource = "+".join(subresources)
    if not subresource and head.method == "PUT" and "x-amz-copy-source" in head.headers:
        subresource = "copy"
    operation = _OPERATIONS.get((head.method, level, subresource))
    if operation is None:
        raise _not_implemented(_name(head.method, level, subresource))
    unknown = [name for name in head.headers if name.startswith(_UNKNOWN_HEADERS)]
    if unknown:
        name = _name(head.method, level, subresource)
        raise _not_implemented(f"{name} with {', '.join(unknown)}")
    return operation


def _name(method: str, level: str, subresource: str) -> str:
    """What S3 calls an operation, as GetBucketAcl."""
    words = subresource[:80].replace("-", " ").replace("+", " ").split()
    return method.capitalize() + level + "".join(word[0].upper() + word[1:] for word in words)


def _not_implemented(name: str) -> FaultError:
    return FaultError("NotImplemented", f"this store does not have the operation {name}")
