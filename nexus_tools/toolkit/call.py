"""What a tool may know about the call that it answers, besides its ports."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Call:
    """The context of one invocation: a parameter annotated with `Call` receives it.

    `invocation` is the id of the invocation on chain, `deadline` the moment after which nobody
    waits any more, `max_outcome_bytes` what the requester pays for. All are absent in tests and
    for callers that do not say them.
    """

    invocation: str | None = None
    deadline: datetime | None = None
    max_outcome_bytes: int | None = None
