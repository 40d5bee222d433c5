"""The return of closings that this process cannot send, so that other processes send them."""

import asyncio
from collections.abc import Sequence

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")

# Other processes claim the invocation first. If no process can close it, each of them tries again
# after this time.
_PAUSE_S = 5.0
_OWN_PROBLEMS = ("not_enough_sui", "signing_failed")


async def leave_to_others(journal: Journal, closings: Sequence[Closing], error: NexusError) -> bool:
    """Leave closings to processes that are ready, and return whether such processes exist.

    The other process uses the outcome in the journal, and does not call the tool again. Closings
    are left only if the reason of `error` is this process. If the node does not respond,
    a transaction with the closings may be in flight.
    """
    is_own_problem = error.code in _OWN_PROBLEMS or journal.leaves_work
    if isinstance(error, UnreachableError) or not is_own_problem or not journal.has_ready_others:
        return False
    _log.warning("closings_returned", count=len(closings), code=error.code, error=error.message)
    invocations = [closing.assignment.invocation for closing in closings]
    await asyncio.gather(
        *(journal.give_back(invocation, pause_s=_PAUSE_S) for invocation in invocations)
    )
    for closing in closings:
        closing.leave()
    return True
