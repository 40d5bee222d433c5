"""S3's XML documents: responses, request bodies, and error documents."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from starlette.responses import Response

_STATUS = {
    "AccessDenied": 403,
    "BucketAlreadyOwnedByYou": 409,
    "InternalError": 500,
    "InvalidAccessKeyId": 403,
    "InvalidRange": 416,
    "KeyConflict": 409,
    "NoSuchBucket": 404,
    "NoSuchKey": 404,
    "NoSuchUpload": 404,
    "NotImplemented": 501,
    "PreconditionFailed": 412,
    "QuotaExceeded": 507,
}

_NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'

Content: TypeAlias = "str | int | Mapping[str, Content] | Sequence[Mapping[str, Content]]"


class S3Error(Exception):
    """An error that ends a request with an error document.

    `code` is an error code of S3. A code without a listed status has the status 400.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def response(self) -> Response:
        """Return the error document.

        Error documents have no XML namespace, unlike all other documents.
        """
        content = {"Code": self.code, "Message": self.message}
        return _response("Error", content, "", _STATUS.get(self.code, 400))


def xml_response(name: str, content: Mapping[str, Content]) -> Response:
    """Return an XML response. An element whose content is a list is repeated for each item."""
    return _response(name, content, _NAMESPACE, 200)


def _response(name: str, content: Content, namespace: str, status: int) -> Response:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    document = head + _element(name, content, namespace)
    return Response(document.encode("utf-8", "replace"), status, media_type="application/xml")


def _element(name: str, content: Content, namespace: str = "") -> str:
    if isinstance(content, Mapping):
        inner = "".join(_element(*child) for child in content.items())
    elif isinstance(content, Sequence) and not isinstance(content, str):
        return "".join(_element(name, item) for item in content)
    else:
        inner = escape(str(content))
    return f"<{name}{namespace}>{inner}</{name}>"


def xml_time(moment: datetime) -> str:
    """Return a time in the format of S3's documents."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def parse_integer(text: str, least: int, most: int) -> int:
    """Parse an integer from a client between `least` and `most`, or raise `S3Error`."""
    if text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most:
        return int(text)
    raise S3Error(
        "InvalidArgument", f"expected an integer from {least} to {most}, got {text[:80]!r}"
    )


def parse(content: bytes, root: str) -> ET.Element:
    """Parse a document with the root `root`. DOCTYPE declarations (entities) are rejected."""
    try:
        # Entities, whose expansion could be unlimited, need a DOCTYPE.
        top = ET.XML(content, ET.XMLParser(target=_NoDocumentType()))  # noqa: S314
    except ET.ParseError as error:
        raise S3Error("MalformedXML", f"the body is not an XML document: {error}") from error
    if top.tag.rpartition("}")[2] != root:
        raise S3Error("MalformedXML", f"expected a document {root}")
    return top


def texts(parent: ET.Element, *names: str) -> list[str]:
    """Return the text of one child element for each name."""
    values = [parent.findtext(f"{{*}}{name}", "") for name in names]
    if not all(values):
        raise S3Error("MalformedXML", f"{parent.tag} requires {' and '.join(names)}")
    return values


class _NoDocumentType(ET.TreeBuilder):
    def doctype(self, *_: object) -> None:
        raise S3Error("MalformedXML", "DOCTYPE declarations are not allowed")
