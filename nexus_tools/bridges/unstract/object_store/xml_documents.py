"""S3's documents: responses in XML, what is asked with it, and the faults of a request."""

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


class FaultError(Exception):
    """Ends a request with an error document; a `code` of S3 whose status is not listed has 400."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def response(self) -> Response:
        """The document, which unlike all others has no namespace."""
        content = {"Code": self.code, "Message": self.message}
        return _response("Error", content, "", _STATUS.get(self.code, 400))


def xml_response(name: str, content: Mapping[str, Content]) -> Response:
    """A document; one of its elements that has a list for its content stands there so often."""
    return _response(name, content, _NAMESPACE, 200)


def _response(name: str, content: Content, namespace: str, status: int) -> Response:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    document = head + _element(name, content, namespace)
    return Response(document.encode("utf-8", "replace"), status, media_type="application/xml")


def _element(name: str, content: Content, namespace: str = "") -> str:
    if isinstance(content, Mapping):
        inner = "".join(_element(*child) for child in content.items())
    elif isinstance(content, Sequence) and not isinstance(content, str):
        return "".join(_element(name, each) for each in content)
    else:
        inner = escape(str(content))
    return f"<{name}{namespace}>{inner}</{name}>"


def xml_time(moment: datetime) -> str:
    """A time as S3's documents have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def whole_number(text: str, least: int, most: int) -> int:
    """A number that a client writes."""
    if text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most:
        return int(text)
    raise FaultError("InvalidArgument", f"{text[:80]!r} is no number from {least} to {most}")


def parse(content: bytes, root: str) -> ET.Element:
    """Read a document whose root is `root`; one with a document type, and thus entities, is not."""
    try:
        # Without a document type there are no entities, which could grow without bound.
        top = ET.XML(content, ET.XMLParser(target=_NoDocumentType()))  # noqa: S314
    except ET.ParseError as error:
        raise FaultError("MalformedXML", f"the body is no XML document: {error}") from error
    if top.tag.rpartition("}")[2] != root:
        raise FaultError("MalformedXML", f"the document is no {root}")
    return top


def texts(parent: ET.Element, *names: str) -> list[str]:
    """The texts of the children of these names, one each."""
    found = [parent.findtext(f"{{*}}{name}", "") for name in names]
    if not all(found):
        raise FaultError("MalformedXML", f"{parent.tag} needs {' and '.join(names)}")
    return found


class _NoDocumentType(ET.TreeBuilder):
    def doctype(self, *_: object) -> None:
        raise FaultError("MalformedXML", "the document has a document type")
