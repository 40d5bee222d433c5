"""What calls may cost together, and have cost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nexus_tools.errors import NexusError, NotNowError
from nexus_tools.sui.client import gas_taken_mist
from nexus_tools.sui.support import units


class Budget:
    """An amount in MIST that calls share; None is without end.

    What a call may cost is reserved while it runs, and what it did cost is spent for good.
    """

    def __init__(self, total_mist: int | None) -> None:
        self._total_mist = total_mist
        self._reserved_mist = 0
        self.spent_mist = 0

    @contextmanager
    def reserved(self, mist: int) -> Iterator["Reservation"]:
        """Hold an amount for a call. Raises `budget_spent` if there is not as much left."""
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
        left = self._total_mist - self.spent_mist - self._reserved_mist
        if mist > left:
            raise NotNowError(
                "budget_spent",
                f"the call may cost {units.sui(mist)}, and {units.sui(max(0, left))} are left of"
                f" the server's budget of {units.sui(self._total_mist)}",
                hint="the operator can start the server with a larger --budget",
            )


class Reservation:
    """What a call has cost so far, in MIST: as long as nobody knows it, what it may have cost."""

    def __init__(self) -> None:
        self.spent_mist = 0

    @contextmanager
    def sending(
        self, most_mist: int, warn: Callable[[str], None] = lambda _transaction: None
    ) -> Iterator[Callable[[int], None]]:
        """The time in which a transaction is sent that takes so much at most.

        Gives what to tell how much it took. It has taken all of it where that is never told, unless
        an error says what else it took. `warn` is told which transaction nobody knows about.
        """
        self.spent_mist += most_mist

        def took(mist: int) -> None:
            self.spent_mist += mist - most_mist

        try:
            yield took
        except NexusError as error:
            gas_mist = gas_taken_mist(error)
            if gas_mist is None:
                warn(f"the transaction {error.details['digest']}")
            else:
                took(gas_mist)
            raise
        except BaseException:
            warn("a transaction")
            raise
