"""Pages: how many items a list call returns at once, and the token with which the next goes on.

A token is opaque to clients. It holds the place to go on from, behind a hash of that and of what
was asked, so that a token of another question is refused, and one that was made up.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import blake2b256

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000
_HASH_BYTES = 8


def page_size(request: Message, largest: int = MAX_PAGE_SIZE) -> int:
    """The wanted size of a page, from 1 to `largest`; 50 if the request names none."""
    if not request.HasField("page_size"):
        return min(DEFAULT_PAGE_SIZE, largest)
    return max(1, min(int(request.page_size), largest))


def place_of(request: Message, question: Sequence[str]) -> bytes | None:
    """Where the page begins: behind this place; None for the first page.

    `question` is what the list is of. Raises `RpcError` for a token of another question.
    """
    if not request.HasField("page_token"):
        return None
    token = bytes(request.page_token)
    place = token[_HASH_BYTES:]
    if token != token_for(place, question):
        raise invalid("invalid page_token", "page_token")
    return place


def token_for(place: bytes, question: Sequence[str]) -> bytes:
    """The token of the page that begins behind `place`."""
    asked = "\0".join(question).encode()
    return blake2b256(asked, b"\0", place)[:_HASH_BYTES] + place
