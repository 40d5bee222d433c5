"""Cursors of pages: positions that are bound to one operation, its parameters, and one index.

The digest is not secret. A position contains only values that the queries check, so a client that
makes its own cursors gains nothing. The digest finds cursors that belong to another query, or to
the contents before a rebuild, whose rows may have other numbers.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

import msgspec

from nexus_tools.errors import ValidationError
from nexus_tools.index.api.documents import encode
from nexus_tools.index.api.parameters import PageParameters

_DIGEST_SIZE = 8


class CursorCodec:
    """The codec of the cursors of one query."""

    def __init__(self, generation: str, operation: str, parameters: PageParameters) -> None:
        fields = msgspec.structs.asdict(parameters) | {"after": None, "limit": None}
        self._query = encode([generation, operation, fields])

    def encode(self, position: str | None) -> str | None:
        """Return the cursor of a position, or None."""
        if position is None:
            return None
        data = position.encode()
        return urlsafe_b64encode(self._digest(data) + data).rstrip(b"=").decode()

    def decode(self, cursor: str | None) -> str | None:
        """Return the position of a cursor. Raises `cursor_invalid`."""
        if cursor is None:
            return None
        try:
            data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            digest, position = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
            if digest == self._digest(position):
                return position.decode()
        except ValueError:
            pass
        raise ValidationError(
            "cursor_invalid",
            "`after` is not the cursor of a page with these parameters",
            hint="Pass the `next` of a page with the same parameters, or start without `after`.",
        )

    def _digest(self, position: bytes) -> bytes:
        return blake2b(self._query + position, digest_size=_DIGEST_SIZE).digest()
