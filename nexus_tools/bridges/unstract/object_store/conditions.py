"""Conditions and ranges of HTTP (RFC 9110, sections 13 and 14) as S3 takes them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from nexus_tools.bridges.unstract.object_store.fault import FaultError

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def is_not_modified(headers: Mapping[str, str], etag: str, modified: datetime) -> bool:
    """Whether a reader has the object already; `PreconditionFailed` if it wants another one."""
    if_match = headers.get("if-match")
    if if_match is not None:
        holds = _names(if_match, etag)
    else:
        unmodified_since = _time(headers.get("if-unmodified-since"))
        holds = unmodified_since is None or modified <= unmodified_since
    if not holds:
        raise FaultError("PreconditionFailed", "the object is not the one that is asked for")
    if_none_match = headers.get("if-none-match")
    if if_none_match is not None:
        return _names(if_none_match, etag)
    modified_since = _time(headers.get("if-modified-since"))
    return modified_since is not None and modified <= modified_since


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte that is asked for and the one behind the last; None for all of them.

    Anything but one range of bytes is ignored, as RFC 9110 allows and S3 does.
    """
    match = _RANGE.fullmatch((header or "").strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        first, end = max(0, size - int(match[2])), size
    else:
        first, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
    if match[2] and match[1] and int(match[2]) < first:
        return None
    if first >= end:
        message = f"the object has {size} bytes, and the range has none of them"
        raise FaultError("InvalidRange", message, headers={"content-range": f"bytes */{size}"})
    return first, end


def _names(header: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")]
    return "*" in tags or etag in tags


def _time(header: str | None) -> datetime | None:
    if header is None:
        return None
    try:
        parsed = parsedate_to_datetime(header)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
