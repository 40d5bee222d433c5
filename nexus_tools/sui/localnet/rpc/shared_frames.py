"""What subscribers of the same are sent, rendered once for all of them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import Digest

Frames = tuple[bytes, ...]
_Key = tuple[str, bytes, Digest]  # kind and bytes of a request, and a checkpoint

KEPT_BYTES = 16 * 1024 * 1024
"""What is kept at most, with what it takes to keep it."""

_ENTRY_BYTES = 512  # of a place, also where nothing is sent


class SharedFrames:
    """The frames of checkpoints, by what was asked for; of all of them the last 16 MiB are kept.

    Of 200 subscribers with the same request the first one to come to a checkpoint renders it.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, Frames] = OrderedDict()
        self._kept = 0

    def of(
        self,
        request: Message,
        checkpoint: Digest,
        render: Callable[[], Iterable[Message]],
    ) -> Frames:
        """What a request gets for a checkpoint; if it is not known, it is rendered."""
        key = (request.DESCRIPTOR.name, request.SerializeToString(), checkpoint)
        known = self._known.get(key)
        if known is None:
            known = tuple(message.SerializeToString() for message in render())
            self._keep(key, known)
        return known

    def _keep(self, key: _Key, frames: Frames) -> None:
        self._known[key] = frames
        self._kept += _size(key, frames)
        while self._kept > KEPT_BYTES:
            self._kept -= _size(*self._known.popitem(last=False))


def _size(key: _Key, frames: Frames) -> int:
    return len(key[1]) + sum(map(len, frames)) + _ENTRY_BYTES
