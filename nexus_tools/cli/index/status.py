"""The command `nexus-tools index status`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, query_command

if TYPE_CHECKING:
    from nexus_tools.index import IndexStatus

_LABELS = {
    "path": "file",
    "checkpoint": "checkpoint",
    "chain_checkpoint": "newest checkpoint",
    "complete_since": "complete since checkpoint",
    "tools": "tools",
    "leaders": "leaders",
    "workflows": "workflows",
    "events": "events",
    "pending_definitions": "pending definitions",
    "unknown_events": "unknown events",
    "bytes": "bytes",
    "search_engine": "search engine",
    "searchable_tools": "searchable tools",
    "pending_changes": "pending changes",
    "vectors": "vectors",
    "pending_vectors": "pending vectors",
}
_NO_ENGINE = "none: `nexus-tools index run` creates it"


@click.command()
@query_command
async def command(session: Session) -> None:
    """Show the index and compare it with the newest checkpoint of the chain.

    `complete since checkpoint` is larger than 0 if the node had already deleted older events. The
    definitions of new tools are read after their events. Unknown events are from a newer version of
    the packages. Run a newer release of nexus-tools to read them.
    """
    from nexus_tools.index import Index, IndexIdentity

    async with session.nexus(signing=False) as nexus:
        newest = await nexus.client.latest_checkpoint()
        identity = IndexIdentity.of(nexus.deployment)
    path = identity.path()
    with Index(path, identity) as index:
        document = status_document(index.status(), path) | {"chain_checkpoint": newest}
    if not session.output.as_json:
        document |= _search_row(document["search"])
        document = {key: document[key] for key in _LABELS}
    session.output.record(document, _LABELS)


def _search_row(search: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "search_engine": search["engine"] or _NO_ENGINE,
        "searchable_tools": search["tools"],
        "pending_changes": search["pending_changes"],
        "vectors": search["vectors"],
        "pending_vectors": search["pending_vectors"],
    }


def status_document(status: "IndexStatus", path: Path) -> dict[str, Any]:
    """Return the status as JSON."""
    from msgspec import to_builtins

    document: dict[str, Any] = to_builtins(status, enc_hook=str)
    return {"path": str(path)} | document
