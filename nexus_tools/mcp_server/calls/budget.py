"""The budget that limits the total cost of calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.sui.client import failure_gas_mist
from nexus_tools.sui.support import units


class Budget:
    """An amount in MIST that calls share. None means unlimited.

    The maximum cost of a call is reserved while it runs. After the call, its actual cost is
    deducted permanently.
    """

    def __init__(self, total_mist: int | None) -> None:
        self._total_mist = total_mist
        self._reserved_mist = 0
        self.spent_mist = 0

    @contextmanager
    def reserved(self, mist: int) -> Iterator["Reservation"]:
        """Reserve an amount in MIST for a call.

        Raises:
            WrongStateError: with code `budget_exhausted` if the budget does not cover the amount.
        """
        self._require(mist)
        reservation = Reservation()
        self._reserved_mist += mist
        try:
            yield reservation
        finally:
            self._reserved_mist -= mist
            self.spent_mist += reservation.spent_mist

    def _require(self, mist: int) -> None:
        if self._total_mist is None:
            return
        remaining_mist = self._total_mist - self.spent_mist - self._reserved_mist
        if mist > remaining_mist:
            raise WrongStateError(
                "budget_exhausted",
                f"the call may cost {units.sui(mist)}, but only {units.sui(max(0, remaining_mist))}"
                f" of the server's budget of {units.sui(self._total_mist)} remains",
                hint="The operator can restart the server with a larger --budget.",
            )


class Reservation:
    """The cost of a call so far, in MIST. An unknown cost counts as its maximum."""

    def __init__(self) -> None:
        self.spent_mist = 0

    @contextmanager
    def sending(
        self, most_mist: int, warn: Callable[[str], None] = lambda _transaction: None
    ) -> Iterator[Callable[[int], None]]:
        """Account for a transaction of at most `most_mist` that is sent inside this context.

        Yields a function that takes the actual cost. If you do not call the function, the maximum
        counts as spent, unless an error reports the actual cost. If the outcome of the transaction
        is unknown, `warn` is called with the transaction.
        """
        self.spent_mist += most_mist

        def took(mist: int) -> None:
            self.spent_mist += mist - most_mist

        try:
            yield took
        except NexusError as error:
            gas_mist = failure_gas_mist(error)
            if gas_mist is None:
                warn(f"the transaction {error.details['digest']}")
            else:
                took(gas_mist)
            raise
        except BaseException:
            warn("a transaction")
            raise
