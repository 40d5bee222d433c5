"""The command `nexus-tools workflow list`."""

from typing import Any

import click

from nexus_tools.cli.framework import Session, network_command, plain
from nexus_tools.cli.shared.pages import note_rest, page_options, read_items

_COLUMNS = {
    "fqn": "FQN",
    "vertices": "Vertices",
    "owner": "Published by",
    "description": "Description",
}
_NONE = "no workflows yet. Run `nexus-tools workflow publish FILE --name FQN` to publish one"
_SHOWN = 60


@click.command()
@click.option("--mine", is_flag=True, help="List only workflows that your wallet published.")
@page_options("workflows")
@network_command
async def command(session: Session, *, mine: bool, limit: int, everything: bool) -> None:
    """List the published workflows, the newest first."""
    async with session.nexus(signing=mine) as nexus:
        owner = nexus.client.address if mine else None
        page = await read_items(
            session.output,
            "workflows",
            lambda size, before: nexus.workflows.list(owner, limit=size, before=before),
            limit=limit,
            everything=everything,
        )
        await note_rest(session.output, nexus.client, page, "workflows", limit=limit)
    rows: list[dict[str, Any]] = [
        {
            "fqn": item.fqn,
            "workflow": str(item.dag),
            "vertices": item.vertices,
            "owner": str(item.owner),
            "description": item.description,
            "digest": item.digest.hex(),
        }
        for item in page.items
    ]
    if not session.output.as_json:
        rows = [row | {"description": _cut(plain(row["description"]))} for row in rows]
    session.output.table(rows, _COLUMNS, empty=_NONE)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
