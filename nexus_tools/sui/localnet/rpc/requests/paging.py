"""The paging of list calls: the page size, and the token of the next page.

A token is opaque to clients. It consists of a hash of the position and the query, and the position
after which the page starts. The server refuses tokens of other queries because their hash differs.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import blake2b256

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000
_HASH_BYTES = 8


def page_size(request: Message, largest: int = MAX_PAGE_SIZE) -> int:
    """Return the requested page size, clamped to 1 to `largest`. The default is 50."""
    if not request.HasField("page_size"):
        return min(DEFAULT_PAGE_SIZE, largest)
    return max(1, min(int(request.page_size), largest))


def place_of(request: Message, question: Sequence[str]) -> bytes | None:
    """Return the position after which the page starts, or None for the first page.

    `question` identifies the query.

    Raises:
        RpcError: The token belongs to another query.
    """
    if not request.HasField("page_token"):
        return None
    token = bytes(request.page_token)
    place = token[_HASH_BYTES:]
    if token != token_for(place, question):
        raise invalid("invalid page_token", "page_token")
    return place


def token_for(place: bytes, question: Sequence[str]) -> bytes:
    """Return the token of the page that starts after `place`."""
    query = "\0".join(question).encode()
    return blake2b256(query, b"\0", place)[:_HASH_BYTES] + place
