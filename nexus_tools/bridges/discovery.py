"""Discovery of foreign tools: every bridge tests whether a file or folder belongs to its system."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nexus_tools.bridges.base import Bridge, BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.naming import Naming
from nexus_tools.errors import NexusError, NotFoundError

MAX_DEPTH = 4

# Folders of a project that do not contain its tools.
_SKIPPED_FOLDERS = {"node_modules", "venv", "dist", "build", "site-packages", "tests"}


async def discover(
    places: Sequence[Path], bridges: Sequence[Bridge], host: BridgeHost, naming: Naming
) -> Discovery:
    """Return the tools that the bridges find in all locations.

    A location that a bridge cannot read becomes a refusal with the reason, and the search
    continues.

    Raises:
        NotFoundError: with code `path_not_found` or `tool_not_recognised`.
    """
    discoveries: list[Discovery] = []
    for place in places:
        for bridge, folder in recognised(place, bridges):
            try:
                discoveries.append(await bridge.discover(folder, host, naming))
            except NexusError as error:
                refusal = RejectedTool.of(bridge.system, folder, error)
                discoveries.append(Discovery(rejected=(refusal,)))
    return Discovery.merge(discoveries)


def recognised(place: Path, bridges: Sequence[Bridge]) -> list[tuple[Bridge, Path]]:
    """Return the bridges that recognise a path, or its subfolders if no bridge recognises the path.

    The search goes four folders deep and skips hidden folders, virtual environments, and build
    folders.
    """
    if not place.exists():
        raise NotFoundError("path_not_found", f"{place} does not exist")
    matches = list(_search(place.resolve(), bridges, MAX_DEPTH))
    if not matches:
        systems = ", ".join(bridge.system for bridge in bridges)
        raise NotFoundError(
            "tool_not_recognised",
            f"{place} does not contain a tool of {systems}",
            hint="Pass one tool's folder. docs/guides/bridges.md shows the recognised layouts.",
        )
    return matches


def _search(place: Path, bridges: Sequence[Bridge], depth: int) -> Iterator[tuple[Bridge, Path]]:
    matches = [(bridge, place) for bridge in bridges if bridge.recognises(place)]
    if matches:
        yield from matches
    elif depth and place.is_dir():
        for child in sorted(place.iterdir()):
            if _is_searched(child):
                yield from _search(child, bridges, depth - 1)


def _is_searched(child: Path) -> bool:
    """Return whether a folder may contain tools. Symbolic links are skipped, as they can loop."""
    return (
        child.is_dir()
        and not child.is_symlink()
        and not child.name.startswith((".", "__"))
        and child.name not in _SKIPPED_FOLDERS
    )
