"""The test whether an event may concern this leader, which does not decode the event.

Anyone can create any number of events, so most events of a busy market concern other leaders. An
event concerns this leader if it contains the leader's ID, or if it is about an invocation, an
execution or a schedule on which the Leader works.
"""

from collections.abc import Callable

from nexus_tools.contracts import RegistryEvent
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationDeleted,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionAdvanced
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleCollected,
    ScheduleTriggered,
)
from nexus_tools.sui.types.address import ADDRESS_LENGTH, Address
from nexus_tools.sui.types.event import Event

# Every followed event starts with the ID of its subject. In these events, the ID of a second
# subject follows.
_WITH_TWO_SUBJECTS = {
    kind.__name__ for kind in (ExecutionAdvanced, ScheduleTriggered, ScheduleCollected)
}
_REQUESTED = InvocationRequested.__name__
_OF_INVOCATIONS = (
    InvocationRequested,
    InvocationSettled,
    InvocationFailed,
    InvocationExpired,
    InvocationDeleted,
)


class Relevance:
    """The test for the events of one page.

    `is_tracked` returns whether the Leader works on an invocation, an execution or a schedule, so
    that events about it matter. `has_executions` returns whether the Leader tracks any execution.
    """

    def __init__(
        self,
        leader: Address,
        is_tracked: Callable[[bytes], bool],
        has_executions: Callable[[], bool],
    ) -> None:
        self._leader = bytes(leader)
        self._is_tracked = is_tracked
        self._has_executions = has_executions
        self._mentioned: set[bytes] = set()
        self._mentions_execution = False

    def begin_page(self) -> None:
        """Forget the events of the previous page, which the components have handled."""
        self._mentioned.clear()
        self._mentions_execution = False

    def names_leader(self, event: Event) -> bool:
        """Return whether an event contains the ID of this leader."""
        return self._leader in event.contents

    def may_concern(self, event: Event) -> bool:
        """Return whether an event without the leader's ID may concern this leader.

        True may be wrong, but False never is.
        """
        if event.type.name == _REQUESTED:
            # The execution of a request is near its end, at a position that varies.
            return self._mentions_execution or self._has_executions()
        return any(map(self._is_known, _subjects(event)))

    def concerns(self, event: Event, parsed: RegistryEvent) -> bool:
        """Return whether a parsed event concerns this leader.

        If it does, all events of the page about its subjects concern this leader too.
        """
        subjects = _subjects(event)
        if isinstance(parsed, InvocationRequested) and parsed.attempt is not None:
            subjects = (*subjects, parsed.attempt.execution)
        if not self.names_leader(event) and not any(map(self._is_known, subjects)):
            return False
        self._mentioned.update(subjects)
        if len(subjects) > 1 or not isinstance(parsed, _OF_INVOCATIONS):
            self._mentions_execution = True
        return True

    def _is_known(self, subject: bytes) -> bool:
        return subject in self._mentioned or self._is_tracked(subject)


def _subjects(event: Event) -> tuple[bytes, ...]:
    """Return the IDs of the invocation, execution or schedule of an event."""
    first = event.contents[:ADDRESS_LENGTH]
    if event.type.name in _WITH_TWO_SUBJECTS:
        return first, event.contents[ADDRESS_LENGTH : 2 * ADDRESS_LENGTH]
    return (first,)
