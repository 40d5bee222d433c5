"""A lock for each key, so that commands on this machine send its transactions one after another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from nexus_tools.sui.support.private_file import open_lock, try_lock

_LOOK_AGAIN_S = 0.05


@asynccontextmanager
async def sending_turn(path: Path) -> AsyncIterator[None]:
    """Wait until no other process holds the lock at `path`, and hold it until the block ends.

    Without the lock, two commands with the same key would use the same coins, and the network would
    refuse one of them. If `open_lock` cannot open the file, the block runs without the lock.
    """
    with ExitStack() as stack:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = stack.enter_context(open_lock(path))
        except OSError:
            yield
            return
        while not try_lock(lock):  # noqa: ASYNC110 - no event reports the end of another process
            await asyncio.sleep(_LOOK_AGAIN_S)
        yield
