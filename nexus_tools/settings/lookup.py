"""What is found by its name in one of several places, the nearest first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from nexus_tools.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """A network or an account, and where it was found: with us, with the Sui CLI, with pysui."""

    what: T
    source: str
    file: Path | None = None


def nearest(places: Iterable[Iterable[Found[T]]], is_wanted: Callable[[T], bool]) -> list[Found[T]]:
    """What is wanted, from the first place that has it: farther ones are not looked at."""
    for place in places:
        found = [each for each in place if is_wanted(each.what)]
        if found:
            return found
    return []


def require_one(
    found: Sequence[Found[T]], kind: str, name: str, identity: Callable[[T], object]
) -> None:
    """Refuse a name that means one thing to the Sui CLI and another one to pysui.

    Raises `network_ambiguous` or `account_ambiguous`, as `kind` is.
    """
    if len({identity(each.what) for each in found}) > 1:
        places = ", ".join(f"{identity(each.what)} in {each.file}" for each in found)
        raise UsageError(
            f"{kind}_ambiguous",
            f"{name[:80]!r} is more than one {kind}: {places}",
            hint=_WHICH_ONE[kind],
        )


_WHICH_ONE = {
    "network": "`nexus-tools network use NAME --url URL` says which one is meant",
    "account": "name it by its address",
}
