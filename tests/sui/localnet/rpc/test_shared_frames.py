"""The cache of rendered frames for equal subscriptions."""

import pytest

from nexus_tools.sui.localnet.rpc.shared_frames import MAX_CACHE_BYTES, SharedFrames
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.types.digest import Digest

FIRST, SECOND = Digest(b"\1" * 32), Digest(b"\2" * 32)


class Rendering:
    """A renderer of a message of a given size, with a counter."""

    def __init__(self, size=3):
        self.count = 0
        self.size = size

    def __call__(self):
        self.count += 1
        message = message_of("sui.rpc.v2.Bcs")
        message.value = b"x" * self.size
        return [message]


def message_of(name):
    return load_messages().message(name)()


def request_of(name="SubscribeCheckpointsRequest", mask="digest"):
    request = message_of(f"sui.rpc.v2.{name}")
    request.read_mask.paths.append(mask)
    return request


@pytest.fixture
def frames():
    return SharedFrames()


def test_checkpoint_is_rendered_once_for_equal_requests(frames):
    rendering = Rendering()
    sent = [frames.of(request_of(), FIRST, rendering) for _ in range(200)]
    assert sent == [(b"\x12\x03xxx",)] * 200
    assert rendering.count == 1


@pytest.mark.parametrize(
    ("request_", "checkpoint"),
    [
        (request_of(), SECOND),
        (request_of(mask="summary"), FIRST),
        (request_of("SubscribeTransactionsRequest"), FIRST),
    ],
)
def test_any_difference_is_rendered_separately(frames, request_, checkpoint):
    rendering = Rendering()
    frames.of(request_of(), FIRST, rendering)
    frames.of(request_, checkpoint, rendering)
    assert rendering.count == 2


def test_oldest_frames_are_removed_when_the_cache_is_full(frames):
    large, small = Rendering(MAX_CACHE_BYTES // 2), Rendering()
    frames.of(request_of(), FIRST, small)
    for mask in ("summary", "contents"):
        frames.of(request_of(mask=mask), FIRST, large)
    frames.of(request_of(mask="contents"), FIRST, large)
    assert (large.count, small.count) == (2, 1)
    frames.of(request_of(), FIRST, small)
    assert small.count == 2


def test_size_of_the_request_counts_for_the_cache(frames):
    renderings = [Rendering(), Rendering()]
    for rendering in renderings:
        frames.of(request_of(mask="x" * (MAX_CACHE_BYTES // 2)), FIRST, rendering)
    first, other = renderings
    assert (first.count, other.count) == (1, 0)
    frames.of(request_of(mask="y" * (MAX_CACHE_BYTES // 2)), FIRST, other)
    frames.of(request_of(mask="x" * (MAX_CACHE_BYTES // 2)), FIRST, first)
    assert (first.count, other.count) == (2, 1)


def test_rendering_larger_than_the_cache_is_still_returned(frames):
    rendering = Rendering(MAX_CACHE_BYTES)
    (sent,) = frames.of(request_of(), FIRST, rendering)
    assert len(sent) > MAX_CACHE_BYTES
    frames.of(request_of(), FIRST, rendering)
    assert rendering.count == 2
