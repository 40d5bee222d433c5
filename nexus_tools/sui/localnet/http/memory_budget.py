"""How many bytes are kept of requests that have not come whole."""


class OverloadedError(Exception):
    """There is no room for more of what unfinished requests have sent."""


class Budget:
    """What the requests of its owner may keep together; `shared` is what all owners may."""

    def __init__(self, limit: int, owner: str, shared: "Budget | None" = None) -> None:
        self._limit = limit
        self._owner = owner
        self._shared = shared
        self._kept = 0

    def add(self, count: int) -> None:
        """Keep so many bytes more, or fewer. Raises `OverloadedError`, and changes nothing then."""
        if self._kept + count > self._limit:
            raise OverloadedError(
                f"of unfinished requests, {self._owner} keeps {self._limit} bytes at most"
            )
        if self._shared is not None:
            self._shared.add(count)
        self._kept += count
