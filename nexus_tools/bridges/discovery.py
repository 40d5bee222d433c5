"""Which system a file or folder belongs to: each bridge says whether it is one of its own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nexus_tools.bridges.base import Bridge, Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.errors import NexusError, NotFoundError

MAX_DEPTH = 4

# Folders that a project has beside its tools.
_ASIDE = {"node_modules", "venv", "dist", "build", "site-packages", "tests"}


async def discover(
    places: Sequence[Path], bridges: Sequence[Bridge], host: Host, naming: Naming
) -> Discovery:
    """The tools in all places, each found by the bridges that recognise it.

    Raises `place_missing` and `system_unknown`. What a bridge cannot read is refused with its
    reason, and the rest is found nevertheless.
    """
    found: list[Discovery] = []
    for place in places:
        for bridge, folder in recognised(place, bridges):
            try:
                found.append(await bridge.discover(folder, host, naming))
            except NexusError as error:
                refusal = Refusal.of(bridge.system, folder, error)
                found.append(Discovery(refused=(refusal,)))
    return Discovery.joined(found)


def recognised(place: Path, bridges: Sequence[Bridge]) -> list[tuple[Bridge, Path]]:
    """The bridges for a place; for a folder that none knows, those for what lies in it.

    It looks four folders deep, and not into hidden ones, virtual environments and build folders.
    """
    if not place.exists():
        raise NotFoundError("place_missing", f"there is no file or folder {place}")
    found = list(_below(place.resolve(), bridges, MAX_DEPTH))
    if not found:
        known = ", ".join(bridge.system for bridge in bridges)
        raise NotFoundError(
            "system_unknown",
            f"nothing in {place} is recognised as a tool of {known}",
            hint="name the folder of one tool; docs/guides/bridges.md says how one is recognised",
        )
    return found


def _below(place: Path, bridges: Sequence[Bridge], depth: int) -> Iterator[tuple[Bridge, Path]]:
    here = [(bridge, place) for bridge in bridges if bridge.recognises(place)]
    if here:
        yield from here
    elif depth and place.is_dir():
        for child in sorted(place.iterdir()):
            if _is_of_interest(child):
                yield from _below(child, bridges, depth - 1)


def _is_of_interest(child: Path) -> bool:
    """Whether tools may lie there; links are not followed, as they may lead in circles."""
    return (
        child.is_dir()
        and not child.is_symlink()
        and not child.name.startswith((".", "__"))
        and child.name not in _ASIDE
    )
