"""What subscribers of the same are sent, rendered once for all of them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from nexus_tools.sui.digest import Digest
from nexus_tools.sui.rpc import Message

Frames = tuple[bytes, ...]

KEPT_BYTES = 16 * 1024 * 1024
"""What is kept at most, with what it takes to keep it."""

_ENTRY_BYTES = 512  # of a key and its place, also where nothing is sent


class SharedFrames:
    """The frames of checkpoints, by what was asked for; of all of them the last 16 MiB are kept.

    Of 200 subscribers with the same request the first one to come to a checkpoint renders it.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes, Digest], Frames] = OrderedDict()
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

    def _keep(self, key: tuple[str, bytes, Digest], frames: Frames) -> None:
        self._known[key] = frames
        self._kept += _size(frames)
        while self._kept > KEPT_BYTES:
            _, forgotten = self._known.popitem(last=False)
            self._kept -= _size(forgotten)


def _size(frames: Frames) -> int:
    return sum(map(len, frames)) + _ENTRY_BYTES
