"""Memory limits for incomplete requests."""


class OverloadedError(Exception):
    """An error for incomplete requests that exceed their memory limit."""


class Budget:
    """A limit, in bytes, for the memory that one owner's incomplete requests use.

    `shared` limits the requests of all owners together.
    """

    def __init__(self, limit: int, owner: str, shared: "Budget | None" = None) -> None:
        self._limit = limit
        self._owner = owner
        self._shared = shared
        self._kept = 0

    def add(self, count: int) -> None:
        """Add bytes, or remove them if `count` is negative.

        Raises:
            OverloadedError: the limit would be exceeded. No bytes were added.
        """
        if self._kept + count > self._limit:
            raise OverloadedError(
                f"{self._owner} stores at most {self._limit} bytes of incomplete requests"
            )
        if self._shared is not None:
            self._shared.add(count)
        self._kept += count
