"""S3's words: XML documents that are sent and asked with, and the faults of a request."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

STATUS = {
    "AccessDenied": 403,
    "BucketAlreadyOwnedByYou": 409,
    "EntityTooLarge": 400,
    "IncompleteBody": 400,
    "InternalError": 500,
    "InvalidAccessKeyId": 403,
    "InvalidArgument": 400,
    "InvalidBucketName": 400,
    "InvalidPart": 400,
    "InvalidPartOrder": 400,
    "InvalidRange": 416,
    "InvalidRequest": 400,
    "KeyConflict": 409,
    "KeyTooLongError": 400,
    "MalformedXML": 400,
    "MetadataTooLarge": 400,
    "MethodNotAllowed": 405,
    "NoSuchBucket": 404,
    "NoSuchKey": 404,
    "NoSuchUpload": 404,
    "NotImplemented": 501,
    "PreconditionFailed": 412,
    "QuotaExceeded": 507,
}


class FaultError(Exception):
    """Ends a request with an S3 error document; `code` is one of `STATUS`."""

    def __init__(self, code: str, message: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS[code]
        self.message = message
        self.headers = headers or {}


_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_MAX_DEPTH = 8


def element(name: str, *content: str) -> str:
    """An element around elements that are written already."""
    return f"<{name}>{''.join(content)}</{name}>"


def text(name: str, value: object) -> str:
    """An element around a text."""
    return element(name, escape(str(value)))


def document(name: str, *content: str) -> bytes:
    """A whole document of S3's namespace."""
    inner = "".join(content)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{name} xmlns="{_NAMESPACE}">{inner}</{name}>'.encode("utf-8", "replace")


def error_document(fault: FaultError, resource: str, request_id: str) -> bytes:
    """An error, which has no namespace."""
    parts = {
        "Code": fault.code,
        "Message": fault.message,
        "Resource": resource,
        "RequestId": request_id,
    }
    inner = "".join(text(name, value) for name, value in parts.items())
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}<Error>{inner}</Error>".encode("utf-8", "replace")


@dataclass(slots=True)
class Node:
    """An element of a document that was sent, without its namespace."""

    name: str
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    def all(self, name: str) -> Iterator["Node"]:
        """The children of that name."""
        return (child for child in self.children if child.name == name)

    def value(self, name: str) -> str:
        """The text of the one child of that name."""
        found = list(self.all(name))
        if len(found) != 1:
            message = f"{self.name} needs one {name}, it has {len(found)}"
            raise FaultError("MalformedXML", message)
        return found[0].text.strip()


def parse(content: bytes, root: str) -> Node:
    """Read a document whose root is `root`; one with a document type, and thus entities, is not."""
    top = Node("")
    open_nodes = [top]

    def start(name: str, _: dict[str, str]) -> None:
        if len(open_nodes) > _MAX_DEPTH:
            raise FaultError("MalformedXML", "the document is too deep")
        node = Node(name.rpartition(" ")[2])
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def characters(data: str) -> None:
        open_nodes[-1].text += data

    def refuse(*_: object) -> None:
        raise FaultError("MalformedXML", "the document has a document type")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_nodes.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FaultError("MalformedXML", f"the body is no XML document: {error}") from error
    if [node.name for node in top.children] != [root]:
        raise FaultError("MalformedXML", f"the document is no {root}")
    return top.children[0]
