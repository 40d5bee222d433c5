"""A cache of rendered frames, which subscribers with equal requests share."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import Digest

Frames = tuple[bytes, ...]
_Key = tuple[str, bytes, Digest]  # the kind and bytes of a request, and a checkpoint

MAX_CACHE_BYTES = 16 * 1024 * 1024
"""The maximum size of the cache in bytes, including its overhead."""

_ENTRY_BYTES = 512  # the overhead of an entry, even if it has no frames


class SharedFrames:
    """A cache of rendered frames, by request and checkpoint. The cache is limited to 16 MiB.

    For example, if 200 subscribers send equal requests, each checkpoint is rendered only once.
    """

    def __init__(self) -> None:
        self._cache: OrderedDict[_Key, Frames] = OrderedDict()
        self._kept = 0

    def of(
        self,
        request: Message,
        checkpoint: Digest,
        render: Callable[[], Iterable[Message]],
    ) -> Frames:
        """Return the frames of a checkpoint for a request, from the cache if possible."""
        key = (request.DESCRIPTOR.name, request.SerializeToString(), checkpoint)
        frames = self._cache.get(key)
        if frames is None:
            frames = tuple(message.SerializeToString() for message in render())
            self._keep(key, frames)
        return frames

    def _keep(self, key: _Key, frames: Frames) -> None:
        self._cache[key] = frames
        self._kept += _size(key, frames)
        while self._kept > MAX_CACHE_BYTES:
            self._kept -= _size(*self._cache.popitem(last=False))


def _size(key: _Key, frames: Frames) -> int:
    return len(key[1]) + sum(map(len, frames)) + _ENTRY_BYTES
