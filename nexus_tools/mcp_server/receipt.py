"""The receipt of a paid call, which the result of the call contains in `_meta`."""

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self

from nexus_tools.sui.support import units

INVOCATION, EXECUTION = "nexus/invocation", "nexus/execution"
PAID, PAID_MIST = "nexus/paid", "nexus/paid_mist"


@dataclass(slots=True)
class Receipt:
    """The cost of a call in MIST after refunds, and the object that the call created on chain.

    `kind` is `INVOCATION` or `EXECUTION`. The fields are None if the call did not pay. If the cost
    of a transaction is unknown, its maximum counts. `started_s` is the monotonic time at which the
    request arrived.
    """

    paid_mist: int | None = None
    kind: str = INVOCATION
    object_id: str | None = None
    started_s: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls) -> Self:
        """Return a new receipt. `current` returns it in this task and in tasks that it starts."""
        receipt = cls()
        _CURRENT.set(receipt)
        return receipt

    @staticmethod
    def current() -> "Receipt":
        """Return the receipt of the call that runs, or a new one outside of a server."""
        return _CURRENT.get() or Receipt()

    def meta(self) -> dict[str, Any] | None:
        """Return the members of `_meta`, or None if the call did not pay."""
        if not self.paid_mist and self.object_id is None:
            return None
        paid_mist = self.paid_mist or 0
        created = {} if self.object_id is None else {self.kind: self.object_id}
        return {PAID: units.sui(paid_mist), PAID_MIST: paid_mist, **created}


_CURRENT: ContextVar[Receipt | None] = ContextVar("nexus_tools_receipt", default=None)
