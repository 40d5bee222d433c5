"""One request as the operations see it, and how they write documents."""

from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.documents import FaultError, document
from nexus_tools.bridges.unstract.object_store.objects import (
    DEFAULT_TYPE,
    Attributes,
    Objects,
    Uploads,
)
from nexus_tools.bridges.unstract.object_store.request import Body, Head
from nexus_tools.bridges.unstract.object_store.tree import ObjectName

MAX_METADATA_BYTES = 2_048

# Headers that are kept with an object, and that a reader may choose for the response.
STORED_HEADERS = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
)

_METADATA = "x-amz-meta-"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: its head, its decoded parameters, its address, its body, and the store's parts."""

    head: Head
    parameters: dict[str, str]
    bucket: str
    key: str
    body: Body
    objects: Objects
    uploads: Uploads

    def object_name(self) -> ObjectName:
        """The address, where it is an object's; the bucket must be there."""
        name = ObjectName.parse(self.bucket, self.key)
        self.objects.check_bucket(self.bucket)
        return name

    def attributes(self) -> Attributes:
        """What the headers say of an object that is written."""
        headers = self.head.headers
        kept = {
            name: value
            for name, value in headers.items()
            if name in STORED_HEADERS or name.startswith(_METADATA)
        }
        if sum(len(name) + len(value) for name, value in kept.items()) > MAX_METADATA_BYTES:
            message = f"metadata have at most {MAX_METADATA_BYTES} bytes"
            raise FaultError("MetadataTooLarge", message)
        encodings = [word.strip() for word in kept.pop("content-encoding", "").split(",")]
        if own := ",".join(word for word in encodings if word not in ("", "aws-chunked")):
            kept["content-encoding"] = own
        return Attributes({"content-type": DEFAULT_TYPE} | kept)

    def is_only_new(self) -> bool:
        """Whether an object may only be written where there is none."""
        if "if-match" in self.head.headers:
            raise FaultError("NotImplemented", "conditional writes with If-Match")
        condition = self.head.headers.get("if-none-match")
        if condition not in (None, "*"):
            raise FaultError("NotImplemented", "conditional writes with an ETag")
        return condition is not None


XML = "application/xml"


def xml_time(moment: datetime) -> str:
    """A time as S3's documents have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def xml_response(name: str, *content: str) -> Response:
    """A document as the response."""
    return Response(document(name, *content), media_type=XML)
