"""Which operation a request asks for: a table by method, level and subresource."""

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store import bucket_operations as buckets
from nexus_tools.bridges.unstract.object_store import multipart_operations as multipart
from nexus_tools.bridges.unstract.object_store import object_operations as objects
from nexus_tools.bridges.unstract.object_store.ask import STORED_HEADERS, Ask
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.head import Head
from nexus_tools.bridges.unstract.object_store.list_operations import list_objects

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
    ("POST", "Object", "uploads"): multipart.create_multipart_upload,
    ("PUT", "Object", "partNumber+uploadId"): multipart.upload_part,
    ("POST", "Object", "uploadId"): multipart.complete_multipart_upload,
    ("DELETE", "Object", "uploadId"): multipart.abort_multipart_upload,
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
