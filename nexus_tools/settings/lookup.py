"""Lookup of an item by name in several sources. The first source that has the item wins."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from nexus_tools.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resolved(Generic[T]):
    """A network or an account with its source: our own files, the Sui CLI, or pysui."""

    value: T
    source: str
    file: Path | None = None


def first_matches(
    places: Iterable[Iterable[Resolved[T]]], is_wanted: Callable[[T], bool]
) -> list[Resolved[T]]:
    """Return the matching items of the first source that has a matching item."""
    for place in places:
        found = [item for item in place if is_wanted(item.value)]
        if found:
            return found
    return []


def check_unambiguous(
    found: Sequence[Resolved[T]], kind: str, name: str, identity: Callable[[T], object]
) -> None:
    """Raise an error if different sources use the same name for different items.

    `identity` returns the part of an item that is compared. The error is `network_ambiguous` or
    `account_ambiguous`, depending on `kind`.
    """
    if len({identity(item.value) for item in found}) > 1:
        places = ", ".join(f"{identity(item.value)} in {item.file}" for item in found)
        raise UsageError(
            f"{kind}_ambiguous",
            f"the {kind} {name[:80]!r} is ambiguous: {places}",
            hint=_WHICH_ONE[kind],
        )


_WHICH_ONE = {
    "network": "Run `nexus-tools network use NAME --url URL` to select one of these networks.",
    "account": "Use the account's address instead of its alias.",
}
