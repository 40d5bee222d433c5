"""The events of invocations and executions, and what they say about a fleet."""

from collections import Counter
from dataclasses import dataclass, field

from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.sui.types.address import Address

KINDS = (
    InvocationRequested,
    InvocationSettled,
    InvocationFailed,
    InvocationExpired,
    ExecutionEnded,
)
"""The kinds of events that a record contains."""


@dataclass(slots=True)
class Record:
    """The events so far. Times are from the monotonic clock when the observer received an event.

    `tools` and `requested` contain the tool and the time of each request, including the attempts of
    executions. `direct` counts requests that do not belong to an execution.
    """

    tools: dict[Address, str] = field(default_factory=dict)
    requested: dict[Address, float] = field(default_factory=dict)
    direct: int = 0
    closed: Counter[Address] = field(default_factory=Counter)
    failures: dict[Address, str] = field(default_factory=dict)
    expired: set[Address] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    first_at: float = 0.0
    last_at: float = 0.0

    def see(self, event: object, at: float) -> None:
        """Record an event."""
        self.first_at, self.last_at = self.first_at or at, at
        match event:
            case InvocationRequested():
                self.tools[event.invocation] = event.fqn
                self.requested[event.invocation] = at
                self.direct += event.attempt is None
            case InvocationSettled():
                self.closed[event.invocation] += 1
            case InvocationFailed():
                self.closed[event.invocation] += 1
                self.failures[event.invocation] = f"{event.reason} ({event.detail})"
            case InvocationExpired():
                self.closed[event.invocation] += 1
                self.expired.add(event.invocation)
            case ExecutionEnded():
                self.statuses[event.status] += 1

    def is_complete(self, invocations: int, executions: int) -> bool:
        """Return whether all were requested, and all that was requested has ended."""
        return (
            self.direct >= invocations
            and self.statuses.total() >= executions
            and self.closed.keys() >= self.requested.keys()
        )

    @property
    def not_closed_once(self) -> list[Address]:
        """The invocations that were not closed exactly once."""
        return [invocation for invocation in self.requested if self.closed[invocation] != 1]

    @property
    def missed(self) -> list[Address]:
        """The invocations that expired or that are still open."""
        return [
            invocation
            for invocation in self.requested
            if invocation in self.expired or not self.closed[invocation]
        ]

    @property
    def seconds(self) -> float:
        """The time from the first to the last event."""
        return self.last_at - self.first_at
