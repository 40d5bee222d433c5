"""The age of an index, compared with the chain."""

from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.index.index import Index
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.support import units

MAX_BEHIND_MS = 60_000
"""The age in ms of chain time up to which an index is fresh."""
MAX_AHEAD = 1_000
"""The number of checkpoints that a node may lag behind the node from which the index reads."""


async def check_freshness(client: SuiClient, index: Index) -> int:
    """Return the checkpoint of an index that is at most one minute behind the chain.

    Raises:
        WrongStateError: `index_stale` if the index is older, or ahead of the chain, which was then
            rolled back.
    """
    return await check_checkpoint(client, index.checkpoint())


async def check_checkpoint(client: SuiClient, checkpoint: int) -> int:
    """Return the checkpoint of an index if it is fresh. Raises `index_stale` as above."""
    newest = await client.latest_checkpoint()
    if checkpoint > newest + MAX_AHEAD:
        raise _stale_error(f"the index is at checkpoint {checkpoint}, but the chain at {newest}")
    if checkpoint < newest:
        now_ms = await client.checkpoint_time_ms(newest)
        try:
            behind_ms = now_ms - await client.checkpoint_time_ms(checkpoint)
        except NotFoundError as error:
            raise _stale_error(f"the node has deleted checkpoint {checkpoint}") from error
        if behind_ms > MAX_BEHIND_MS:
            raise _stale_error(f"the index is {units.duration(behind_ms)} behind the chain")
    return checkpoint


def _stale_error(problem: str) -> WrongStateError:
    return WrongStateError(
        "index_stale", problem, hint="Run `nexus-tools index run` to keep the index current."
    )
