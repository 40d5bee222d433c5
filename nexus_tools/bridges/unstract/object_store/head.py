"""One request without its body: method, address and headers as they were sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from nexus_tools.bridges.unstract.object_store.fault import FaultError


@dataclass(frozen=True, slots=True)
class Head:
    """What a request asks for; `path` and `query` are still percent-encoded.

    Names of `headers` are lower case, several of one name are joined with a comma, as AWS
    Signature Version 4 wants it.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]

    @classmethod
    def of(cls, scope: dict[str, Any]) -> "Head":
        """Read an ASGI scope."""
        path = scope["raw_path"].partition(b"?")[0].decode("ascii", "replace")
        query = scope["query_string"].decode("ascii", "replace")
        return cls(scope["method"], path, query, _joined(scope["headers"]))

    def parameters(self) -> dict[str, str]:
        """The parameters of the query, decoded; the last of a name counts."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair)
        return {_text(name): _text(value) for name, _, value in pairs}

    def bucket_and_key(self) -> tuple[str, str]:
        """The two halves of a path-style address, decoded; empty where absent."""
        bucket, _, key = self.path.removeprefix("/").partition("/")
        return _text(bucket), _text(key)

    def number(self, header: str) -> int | None:
        """A header that is a number of bytes."""
        value = self.headers.get(header)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise FaultError("InvalidArgument", f"{header} is no number of bytes")
        return int(value)


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("ascii", "replace").lower()
        if not raw_value.isascii():
            raise FaultError("InvalidArgument", f"the header {name} is not ASCII")
        value = " ".join(raw_value.decode("ascii").split())
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _text(encoded: str) -> str:
    try:
        return unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FaultError("InvalidArgument", "the address is not UTF-8") from error
