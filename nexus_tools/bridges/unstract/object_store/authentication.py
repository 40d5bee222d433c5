"""Whether a request comes from who holds the keys of the store: header or presigned address."""

import hmac
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.head import Head
from nexus_tools.bridges.unstract.object_store.signature import (
    ALGORITHM,
    Scope,
    canonical_query,
    canonical_request,
    canonical_uri,
    signature,
    signing_key,
    string_to_sign,
)

UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"

# S3 allows a quarter of an hour between the clocks, and a week for a presigned address.
MAX_SKEW = timedelta(minutes=15)
_MAX_EXPIRES_S = 7 * 24 * 3_600

_TIMESTAMP = "%Y%m%dT%H%M%SZ"
_PART = re.compile(r"(Credential|SignedHeaders|Signature)=([^,\s]+)")
_SIGNATURE = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The keys of a store."""

    access_key: str
    secret_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Authenticated:
    """A request that is who it says: what it declares of its body, and what chunks go on from."""

    payload: str
    timestamp: str
    scope: Scope
    signature: str
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a request says of its own signature."""

    access_key: str
    scope: Scope
    signed_headers: tuple[str, ...]
    signature: str
    timestamp: str
    payload: str
    expires: timedelta | None


def authenticate(head: Head, credentials: Credentials, now: datetime) -> Authenticated:
    """Check the signature of a request, or raise `FaultError`."""
    claim = _from_query(head) if "X-Amz-Signature=" in head.query else _from_header(head)
    if not hmac.compare_digest(claim.access_key.encode(), credentials.access_key.encode()):
        raise FaultError("InvalidAccessKeyId", "the access key is not one of this store")
    _check_time(claim, now)
    _check_signed_headers(head, claim)
    key = signing_key(credentials.secret_key, claim.scope)
    query = canonical_query(head.query, without=("X-Amz-Signature",))
    canonical = canonical_request(
        head.method,
        canonical_uri(head.path),
        query,
        headers=head.headers,
        signed=claim.signed_headers,
        payload_hash=claim.payload,
    )
    expected = signature(key, string_to_sign(claim.timestamp, claim.scope, canonical))
    if not hmac.compare_digest(expected, claim.signature):
        message = "the signature of the request is not the one made with the secret key"
        raise FaultError("SignatureDoesNotMatch", message)
    return Authenticated(claim.payload, claim.timestamp, claim.scope, expected, key)


def _from_header(head: Head) -> _Claim:
    algorithm, _, rest = head.headers.get("authorization", "").partition(" ")
    if not algorithm:
        raise FaultError("AccessDenied", "the request is not signed")
    parts = dict(_PART.findall(rest))
    if algorithm != ALGORITHM or len(parts) != 3:
        raise FaultError("AuthorizationHeaderMalformed", f"sign requests with {ALGORITHM}")
    payload = head.headers.get("x-amz-content-sha256")
    if payload is None:
        raise FaultError("InvalidRequest", "the header x-amz-content-sha256 is missing")
    timestamp = head.headers.get("x-amz-date", "")
    return _claim(parts, timestamp, payload, None)


def _from_query(head: Head) -> _Claim:
    parameters = head.parameters()
    names = ("Credential", "SignedHeaders", "Signature")
    parts = {name: parameters.get(f"X-Amz-{name}", "") for name in names}
    if parameters.get("X-Amz-Algorithm") != ALGORITHM or not all(parts.values()):
        raise FaultError("AccessDenied", f"presigned addresses are signed with {ALGORITHM}")
    expires = parameters.get("X-Amz-Expires", "")
    is_number = expires.isascii() and expires.isdigit() and len(expires) <= 6
    if not is_number or not 1 <= int(expires) <= _MAX_EXPIRES_S:
        raise FaultError("AccessDenied", f"X-Amz-Expires is not 1 to {_MAX_EXPIRES_S} seconds")
    timestamp = parameters.get("X-Amz-Date", "")
    return _claim(parts, timestamp, UNSIGNED_PAYLOAD, timedelta(seconds=int(expires)))


def _claim(
    parts: dict[str, str], timestamp: str, payload: str, expires: timedelta | None
) -> _Claim:
    access_key, *scope = parts["Credential"].split("/")
    if len(scope) != 4 or scope[2:] != ["s3", "aws4_request"]:
        message = "the credential is not access-key/date/region/s3/aws4_request"
        raise FaultError("AuthorizationHeaderMalformed", message)
    if not _SIGNATURE.fullmatch(parts["Signature"]):
        raise FaultError("SignatureDoesNotMatch", "the signature is not 64 hexadecimal digits")
    signed = tuple(sorted(parts["SignedHeaders"].split(";")))
    return _Claim(
        access_key, Scope(*scope[:3]), signed, parts["Signature"], timestamp, payload, expires
    )


def _check_time(claim: _Claim, now: datetime) -> None:
    try:
        signed_at = datetime.strptime(claim.timestamp, _TIMESTAMP).replace(tzinfo=UTC)
    except ValueError as error:
        message = "the request does not say when it was signed, as YYYYMMDDTHHMMSSZ"
        raise FaultError("AccessDenied", message) from error
    if claim.scope.date != claim.timestamp[:8]:
        raise FaultError("AccessDenied", "the request was signed on another day than its key")
    if claim.expires is not None and now > signed_at + claim.expires:
        raise FaultError("AccessDenied", "the presigned address has expired")
    latest = MAX_SKEW if claim.expires is None else claim.expires
    if not -MAX_SKEW <= now - signed_at <= latest:
        message = "the clocks of the client and of this store differ too much"
        raise FaultError("RequestTimeTooSkewed", message)


def _check_signed_headers(head: Head, claim: _Claim) -> None:
    """What changes the meaning of a request must be signed, and what is signed must be there."""
    needed = {name for name in head.headers if name.startswith("x-amz-")} | {"host"}
    unsigned = needed - set(claim.signed_headers)
    if unsigned:
        raise FaultError("AccessDenied", f"headers are not signed: {', '.join(sorted(unsigned))}")
    missing = [name for name in claim.signed_headers if name not in head.headers]
    if missing:
        message = f"signed headers are missing: {', '.join(missing)}"
        raise FaultError("SignatureDoesNotMatch", message)
