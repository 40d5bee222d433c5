"""The object store: a random access key, a loopback port, and a directory with the data."""

import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nexus_tools.bridges.unstract.object_store import operations
from nexus_tools.bridges.unstract.object_store.file_tree import Quota, Tree
from nexus_tools.bridges.unstract.object_store.listing import list_objects
from nexus_tools.bridges.unstract.object_store.objects import Objects, Uploads
from nexus_tools.bridges.unstract.object_store.operations import S3Request
from nexus_tools.bridges.unstract.object_store.xml_documents import S3Error
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges.unstract")

_BOUNDS: dict[str, Any] = {
    "http": "h11",
    "lifespan": "off",
    "date_header": False,
    "limit_concurrency": 128,
    "timeout_graceful_shutdown": 1,
    # The timeout exceeds the time limit of tools, so connections stay open between two requests.
    "timeout_keep_alive": 150,
}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The URL of a store and its access key: 128 random bits in the format of AWS keys."""

    endpoint_url: str
    access_key: str = field(repr=False)


@asynccontextmanager
async def object_store(root: Path, *, max_bytes: int, max_files: int) -> AsyncIterator[ObjectStore]:
    """Serve a directory as S3 inside this context, for the one tool that receives its key.

    Direct subdirectories of `root` are buckets if S3 allows their names. Keys are relative paths
    below a bucket. A client's object becomes a file as soon as it is complete. `max_bytes` and
    `max_files` (including directories) limit the content of the store, including existing files and
    uploads in progress. The server runs in the current event loop, without a separate thread.
    """
    quota = Quota(max_bytes, max_files)
    quota.measure(root)
    access_key = "NX" + secrets.token_hex(16).upper()
    # A bucket cannot have a name that starts with a dot.
    with TemporaryDirectory(prefix=".staging-", dir=root, ignore_cleanup_errors=True) as staging:
        objects = Objects(Tree(root, quota), Path(staging))
        listener = listening_socket("127.0.0.1", 0)
        async with serve_embedded(Service(access_key, objects), listener, **_BOUNDS):
            yield ObjectStore(url_of(listener), access_key)


# --- The ASGI application: check the key, find the operation, and respond even after errors


class Service:
    """The ASGI application of one store, which serves requests with the store's access key."""

    def __init__(self, access_key: str, objects: Objects) -> None:
        self._access_key = access_key
        self._objects = objects
        self._uploads = Uploads(objects)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = S3Request(scope, receive, self._objects, self._uploads)
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        except S3Error as fault:
            response = fault.response()
        except Exception:  # noqa: BLE001 - a server must respond after any defect
            _log.exception("object_store_request_failed", method=request.method, path=scope["path"])
            response = S3Error("InternalError", "internal error of the store").response()
        # Read the rest of the body, because a client may read the response only after it has sent
        # the whole body.
        with suppress(ClientDisconnect, RuntimeError):
            async for _ in request.stream():
                pass
        await response(scope, receive, send)

    async def _respond(self, request: S3Request) -> Response:
        check_key(request, self._access_key)
        return await operation_of(request)(request)


_KEY = re.compile(r"Credential=([^/,\s]+)/")


def check_key(request: S3Request, access_key: str) -> None:
    """Raise `S3Error` unless the request has the key, in a header or a presigned URL.

    The key is a capability: it cannot be guessed, and it is valid for one run. Clients also sign
    their requests, but the store does not verify signatures. Signatures would only protect against
    an attacker who can read and change loopback traffic. This attacker could also read the files
    directly.
    """
    presigned = f"Credential={request.query_params.get('X-Amz-Credential', '')}"
    match = _KEY.search(request.headers.get("authorization") or presigned)
    if match is None:
        raise S3Error("AccessDenied", "the request has no access key")
    if not secrets.compare_digest(match[1].encode(), access_key.encode()):
        raise S3Error("InvalidAccessKeyId", "the access key does not belong to this store")


# --- The operation of a request, by method, level, and subresource

Operation = Callable[[S3Request], Awaitable[Response]]

_OPERATIONS: dict[tuple[str, str, str], Operation] = {
    ("GET", "Service", ""): operations.list_buckets,
    ("PUT", "Bucket", ""): operations.create_bucket,
    ("HEAD", "Bucket", ""): operations.head_bucket,
    ("GET", "Bucket", ""): list_objects,
    ("POST", "Bucket", "delete"): operations.delete_objects,
    ("HEAD", "Object", ""): operations.read_object,
    ("GET", "Object", ""): operations.read_object,
    ("PUT", "Object", ""): operations.put_object,
    ("PUT", "Object", "copy"): operations.copy_object,
    ("DELETE", "Object", ""): operations.delete_object,
    ("POST", "Object", "uploads"): operations.create_multipart_upload,
    ("PUT", "Object", "partNumber+uploadId"): operations.upload_part,
    ("POST", "Object", "uploadId"): operations.complete_multipart_upload,
    ("DELETE", "Object", "uploadId"): operations.abort_multipart_upload,
}

# Query parameters that do not select an operation. Every other parameter selects an operation.
_PARAMETERS = frozenset(
    (
        "continuation-token",
        "delimiter",
        "encoding-type",
        "fetch-owner",
        "list-type",
        "max-keys",
        "prefix",
        "start-after",
        "x-id",
    )
)
# Headers for features that this store does not support.
_UNKNOWN_HEADERS = (
    "if-unmodified-since",
    "x-amz-copy-source-if-",
    "x-amz-object-lock-",
    "x-amz-server-side-encryption",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
)


def operation_of(request: S3Request) -> Operation:
    """Return the operation of a request, or raise `NotImplemented`, for example for an ACL."""
    level = "Object" if request.key else "Bucket" if request.bucket else "Service"
    subresource = _subresource(request)
    operation = _OPERATIONS.get((request.method, level, subresource))
    unknown = [name for name in request.headers if name.startswith(_UNKNOWN_HEADERS)]
    if request.headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
        # Clients send signed chunks with checksums only over TLS.
        unknown.append("aws-chunked")
    if operation is None or unknown:
        description = " ".join(filter(None, [request.method, level, subresource, *unknown]))
        raise S3Error("NotImplemented", f"this store does not support {description[:200]}")
    return operation


def _subresource(request: S3Request) -> str:
    """Return the requested subresource, for example `location` in `/bucket?location`."""
    names = [
        name
        for name in request.query_params
        if name not in _PARAMETERS and not name.lower().startswith("x-amz-")
    ]
    if not names and request.method == "PUT" and "x-amz-copy-source" in request.headers:
        return "copy"
    return "+".join(sorted(names))
