"""Which files a tool takes: `maxFileSize` and `allowedFileTypes` of its properties."""

import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from nexus_tools.bridges.unstract.wrong_properties import wrong_properties

_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(?:I?B)?", re.ASCII | re.IGNORECASE)
_POWERS: dict[str, int] = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_ANY = frozenset({"*", "*/*"})

# The table of the standard library alone: what a machine adds to it must not decide.
_MIME_TYPES = mimetypes.MimeTypes()


@dataclass(frozen=True, slots=True)
class Restrictions:
    """The largest file in bytes, and the types by extension or MIME type; None or empty: any."""

    max_bytes: int | None = None
    types: tuple[str, ...] = ()

    @classmethod
    def parse(cls, document: object) -> "Restrictions":
        """Read `restrictions`; raises `ValidationError` with code `properties_invalid`."""
        if document is None:
            return cls()
        if not isinstance(document, Mapping):
            raise wrong_properties("restrictions is no JSON object")
        size = document.get("maxFileSize")
        return cls(
            None if size is None else size_in_bytes(size),
            _types(document.get("allowedFileTypes")),
        )

    def problem(self, name: str, size: int) -> str:
        """Why a file of this name and size is not taken; empty if it is."""
        if self.max_bytes is not None and size > self.max_bytes:
            return f"the file has {size} bytes, the tool takes {self.max_bytes} at most"
        if self.types and not self._allows(name):
            return f"the tool takes only files of the types {', '.join(self.types)[:200]}"
        return ""

    def _allows(self, name: str) -> bool:
        extension = PurePosixPath(name).suffix.lower().removeprefix(".")
        mime = _mime_type(extension)
        return any(
            extension == allowed or (mime is not None and mime == _mime_type(allowed))
            for allowed in self.types
        )


def size_in_bytes(size: object) -> int:
    """Bytes of a size such as `200MB`; the units are powers of 1024, as the SDK counts."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None:
        raise wrong_properties("restrictions.maxFileSize is no size such as 200MB")
    factor: int = 1024 ** _POWERS[match[2].upper()]
    return int(match[1]) * factor


def _types(allowed: Any) -> tuple[str, ...]:
    if allowed is None:
        return ()
    if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
        raise wrong_properties("restrictions.allowedFileTypes is no list of strings")
    names = tuple(name.strip().lower().removeprefix(".") for name in allowed)
    return () if _ANY.intersection(names) else names


def _mime_type(extension: str) -> str | None:
    """The MIME type of an extension; a name with `/` is one already."""
    if "/" in extension:
        return extension
    return _MIME_TYPES.types_map[True].get(f".{extension}") if extension else None
