"""The store: a key that nobody had before, a port on loopback, a directory behind it."""

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
from nexus_tools.bridges.unstract.object_store.xml_documents import FaultError
from nexus_tools.http.embedded_server import embedded, listening_socket, url_of
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges.unstract")

_BOUNDS: dict[str, Any] = {
    "http": "h11",
    "lifespan": "off",
    "date_header": False,
    "limit_concurrency": 128,
    "timeout_graceful_shutdown": 1,
    # Longer than a tool may run: a connection is not closed between two of its requests.
    "timeout_keep_alive": 150,
}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Where a store is, and the key that it lets in: 128 random bits, as AWS writes its keys."""

    endpoint_url: str
    access_key: str = field(repr=False)


@asynccontextmanager
async def object_store(root: Path, *, max_bytes: int, max_files: int) -> AsyncIterator[ObjectStore]:
    """S3 over a directory, while the context lasts; for the one tool that is given its key.

    Direct subdirectories of `root` are buckets, where S3 allows the name; keys are relative paths
    below them, and what a client writes is a file as soon as it is whole. `max_bytes` and
    `max_files` (directories count) bound what the store holds, with what lay there before and
    what is under way. Runs in the loop that enters it, in no thread of its own.
    """
    quota = Quota(max_bytes, max_files)
    quota.measure(root)
    access_key = "NX" + secrets.token_hex(16).upper()
    # A name that begins with a dot is no bucket's.
    with TemporaryDirectory(prefix=".staging-", dir=root, ignore_cleanup_errors=True) as staging:
        objects = Objects(Tree(root, quota), Path(staging))
        listener = listening_socket("127.0.0.1", 0)
        async with embedded(Service(access_key, objects), listener, **_BOUNDS):
            yield ObjectStore(url_of(listener), access_key)


# --- The ASGI application: check the key, find the operation, respond, never break


class Service:
    """Answers requests that name the key, about the objects of one store."""

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
        except FaultError as fault:
            response = fault.response()
        except Exception:  # noqa: BLE001 - the edge of a server
            _log.exception("object_store_broke", method=request.method, path=scope["path"])
            response = FaultError("InternalError", "the store broke").response()
        # A client that still sends its body comes to read the response only after it.
        with suppress(ClientDisconnect, RuntimeError):
            async for _ in request.stream():
                pass
        await response(scope, receive, send)

    async def _respond(self, request: S3Request) -> Response:
        check_key(request, self._access_key)
        return await operation_of(request)(request)


_KEY = re.compile(r"Credential=([^/,\s]+)/")


def check_key(request: S3Request, access_key: str) -> None:
    """Raise `FaultError` unless the request names the key, in a header or a presigned address.

    The key is the capability: nobody can guess it, and it is good for one run. Clients sign
    besides, which nobody checks: who can read and change what goes over loopback, against whom a
    signature would protect, could as well read the files.
    """
    presigned = f"Credential={request.query_params.get('X-Amz-Credential', '')}"
    named = _KEY.search(request.headers.get("authorization") or presigned)
    if named is None:
        raise FaultError("AccessDenied", "the request names no access key")
    if not secrets.compare_digest(named[1].encode(), access_key.encode()):
        raise FaultError("InvalidAccessKeyId", "the access key is not the one of this store")


# --- Which operation a request asks for: a table by method, level and subresource

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

# Parameters that say how, not what; any other one makes it another operation.
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
# Headers that change what is stored, or what may be read, in ways that this store does not know.
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
    """The operation, or `NotImplemented`, as for `GET Bucket acl`."""
    level = "Object" if request.key else "Bucket" if request.bucket else "Service"
    subresource = _subresource(request)
    operation = _OPERATIONS.get((request.method, level, subresource))
    unknown = [name for name in request.headers if name.startswith(_UNKNOWN_HEADERS)]
    if request.headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
        # Clients send chunks, with checksums between them, only where there is TLS.
        unknown.append("aws-chunked")
    if operation is None or unknown:
        asked = " ".join(filter(None, [request.method, level, subresource, *unknown]))
        raise FaultError("NotImplemented", f"this store does not have {asked[:200]}")
    return operation


def _subresource(request: S3Request) -> str:
    """What is asked for beside the content, as `location` in `/bucket?location`."""
    names = [
        name
        for name in request.query_params
        if name not in _PARAMETERS and not name.lower().startswith("x-amz-")
    ]
    if not names and request.method == "PUT" and "x-amz-copy-source" in request.headers:
        return "copy"
    return "+".join(sorted(names))
