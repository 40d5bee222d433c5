"""AWS Signature Version 4, as AWS describes it: from a request to its signature.

Pure functions; the names are those of the description ("Create a signed AWS API request").
"""

import hashlib
import hmac
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_SHA256 = hashlib.sha256().hexdigest()

_UNRESERVED = "-_.~"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a signing key is good for: a day (`YYYYMMDD`), a region, a service."""

    date: str
    region: str
    service: str

    def __str__(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def signing_key(secret_key: str, scope: Scope) -> bytes:
    """The key of a scope, derived from the secret key."""
    key = ("AWS4" + secret_key).encode()
    for part in (scope.date, scope.region, scope.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def canonical_uri(path: str) -> str:
    """The path with each character but the unreserved ones percent-encoded once, as S3 wants it."""
    return quote(unquote_to_bytes(path), safe="/" + _UNRESERVED) or "/"


def canonical_query(query: str, *, without: Container[str] = ()) -> str:
    """The parameters percent-encoded and sorted, less those that are named."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    encoded = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded if name not in without)


def canonical_request(
    method: str,
    uri: str,
    query: str,
    *,
    headers: Mapping[str, str],
    signed: Iterable[str],
    payload_hash: str,
) -> str:
    """The request as both sides write it; `signed` are names of `headers`, lower case, sorted."""
    names = list(signed)
    lines = "".join(f"{name}:{headers[name]}\n" for name in names)
    return "\n".join((method, uri, query, lines, ";".join(names), payload_hash))


def string_to_sign(timestamp: str, scope: Scope, canonical: str) -> str:
    """What is signed of a canonical request; `timestamp` is `YYYYMMDDTHHMMSSZ`."""
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return "\n".join((ALGORITHM, timestamp, str(scope), digest))


def chunk_string_to_sign(timestamp: str, scope: Scope, previous: str, digest: str) -> str:
    """What is signed of one chunk: the signature before it, and the SHA-256 of its data."""
    name = ALGORITHM + "-PAYLOAD"
    return "\n".join((name, timestamp, str(scope), previous, EMPTY_SHA256, digest))


def trailer_string_to_sign(timestamp: str, scope: Scope, previous: str, trailer: bytes) -> str:
    """What is signed of trailing headers; `trailer` has a line `name:value` for each of them."""
    digest = hashlib.sha256(trailer).hexdigest()
    return "\n".join((ALGORITHM + "-TRAILER", timestamp, str(scope), previous, digest))


def signature(key: bytes, text: str) -> str:
    """The signature of a string to sign, in hexadecimal."""
    return hmac.digest(key, text.encode(), "sha256").hex()


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe=_UNRESERVED)
