"""The command `nexus-tools workflow list`."""

from typing import Any

import click

from nexus_tools.cli.framework import Session, network_command, plain

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
@network_command
async def command(session: Session, *, mine: bool) -> None:
    """List the published workflows in the order of publication."""
    async with session.nexus(signing=mine) as nexus:
        with session.output.progress("reading published workflows"):
            owner = nexus.client.address if mine else None
            found = await nexus.workflows.list(owner)
    rows: list[dict[str, Any]] = [
        {
            "fqn": item.fqn,
            "workflow": str(item.dag),
            "vertices": item.vertices,
            "owner": str(item.owner),
            "description": item.description,
            "digest": item.digest.hex(),
        }
        for item in found
    ]
    if not session.output.as_json:
        rows = [row | {"description": _cut(plain(row["description"]))} for row in rows]
    session.output.table(rows, _COLUMNS, empty=_NONE)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
