"""See something to its end, also when the caller is cancelled meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any


async def outlast(
    work: "asyncio.Future[Any]", when_cancelled: Callable[[], None] | None = None
) -> None:
    """Wait until `work` is done; only then be cancelled, if that was asked for meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            if when_cancelled and not cancelled:
                when_cancelled()
            cancelled = error
    if cancelled:
        raise cancelled
    work.result()
