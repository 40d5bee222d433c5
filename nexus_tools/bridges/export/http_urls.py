"""Which tools can be called by HTTP, and at which server and path of an OpenAPI document."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from nexus_tools.tool import ToolDefinition, ToolFqn, ToolType


def callable_by_http(
    definitions: Sequence[ToolDefinition],
) -> tuple[list[ToolDefinition], list[str]]:
    """Those that can be called by HTTP, and a sentence for each of the others."""
    found = [each for each in definitions if each.type is ToolType.OFFCHAIN]
    others = [each for each in definitions if each.type is not ToolType.OFFCHAIN]
    return found, [f"{each.fqn} is skipped: it is a function on chain, no URL" for each in others]


def server_paths(
    definitions: Sequence[ToolDefinition],
) -> tuple[dict[ToolFqn, tuple[str, str]], list[str]]:
    """Server and path of each tool's `/invoke`, and a sentence for each tool that has no place.

    In a document each path stands once, whatever its server. So where two tools have the same path
    on different hosts, the beginning of one's path goes to its server.
    """
    placed: dict[ToolFqn, tuple[str, str]] = {}
    skipped = []
    for definition in definitions:
        taken = {path for _, path in placed.values()}
        free = [split for split in _splits(definition.url) if split[1] not in taken]
        if free:
            placed[definition.fqn] = free[0]
        else:
            skipped.append(
                f"{definition.fqn} is skipped: another tool has the same path on another host;"
                " export it by itself"
            )
    return placed, skipped


def _splits(url: str) -> list[tuple[str, str]]:
    """Every way to say where `/invoke` is, the longest path first."""
    parts = urlsplit(url.rstrip("/") + "/invoke")
    origin = f"{parts.scheme}://{parts.netloc}"
    segments = parts.path.split("/")
    return [
        (origin + "/".join(segments[:count]), "/" + "/".join(segments[count:]))
        for count in range(1, len(segments))
    ]
