"""Pages: how many items a list call returns at once, and the token with which the next goes on.

A token is opaque to clients. It holds the place to go on from and a hash of what was asked, so
that a token of another question is refused.
"""

from collections.abc import Sequence

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.status import RpcError, invalid
from nexus_tools.sui.digest import blake2b256

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000
_QUESTION_BYTES = 8


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
    if token[:_QUESTION_BYTES] != _hash(question):
        raise bad_token()
    return token[_QUESTION_BYTES:]


def token_for(place: bytes, question: Sequence[str]) -> bytes:
    """The token of the page that begins behind `place`."""
    return _hash(question) + place


def bad_token() -> RpcError:
    """A page token that was not made for this request."""
    return invalid("invalid page_token", "page_token")


def _hash(question: Sequence[str]) -> bytes:
    return blake2b256("\0".join(question).encode())[:_QUESTION_BYTES]
