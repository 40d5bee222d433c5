"""The merge of tools that several indices propose, none of which is trusted.

An index may be stale, hide tools, or invent them. Therefore, a tool is proposed if any index has
it, and each index gets an equal share of the first places.
"""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

from nexus_tools.errors import NexusError
from nexus_tools.index.freshness import check_checkpoint
from nexus_tools.index.remote import RemoteIndex
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.support import units

T = TypeVar("T")

MAX_LOOKED_UP = 5
"""The maximum number of tools that are looked up in an index that did not propose them."""


def merge_places(lists: Iterable[Sequence[T]]) -> list[T]:
    """Return each item once: the first item of each list, then the second ones, and so on."""
    places = zip_longest(*lists)
    return [*dict.fromkeys(item for place in places for item in place if item is not None)]


async def check_remote(client: SuiClient, remote: RemoteIndex) -> int:
    """Return the checkpoint of a remote index that is at most one minute behind the chain.

    Raises the errors of `RemoteIndex.status`, and `index_stale`.
    """
    status = await remote.status()
    try:
        return await check_checkpoint(client, status.checkpoint)
    except NexusError as error:
        if error.code == "index_stale":
            error.message = f"{remote.url} is not used: {error.message}"
        raise


async def find_hidden(remote: RemoteIndex, fqns: Sequence[str]) -> list[str]:
    """Return the tools that an index lacks. Raises the errors of `RemoteIndex.has_tool`.

    Pass at most `MAX_LOOKED_UP` tools that the chain has and that the index did not propose.
    """
    found = await asyncio.gather(*map(remote.has_tool, fqns))
    return [fqn for fqn, is_contained in zip(fqns, found, strict=True) if not is_contained]


def describe_hidden(label: str, count: int) -> str:
    """Return the note about an index that lacks a number of tools."""
    return f"{label} does not contain {units.count(count, 'tool')} that other indices have"
