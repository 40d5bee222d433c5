"""The command `nexus-tools admin show`, which shows the admin and the registry settings."""

from typing import Any

import click

from nexus_tools.cli.admin.cost import cost_document, cost_in_words
from nexus_tools.cli.framework import Output, Session, query_command
from nexus_tools.sui.support import units


@click.command()
@query_command
async def command(session: Session) -> None:
    """Show the admin, the registry settings, and the resulting cost of an invocation."""
    from msgspec.structs import asdict

    from nexus_tools.registry import Administration

    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registries"):
            owner = (await Administration(nexus.client, nexus.deployment).state()).owner
            tools = await nexus.tools.settings()
            leaders = await nexus.leaders.settings()
            gas_price = await nexus.client.gas_price()
    document = {
        "admin": str(nexus.deployment.admin),
        "owner": str(owner.owner),
        "pending_owner": None if owner.pending_owner is None else str(owner.pending_owner),
        "tools": asdict(tools),
        "leaders": asdict(leaders),
        "cost": cost_document(leaders, gas_price),
    }
    if session.output.as_json:
        session.output.document(document)
    else:
        _print(session.output, document)


def _print(output: Output, document: dict[str, Any]) -> None:
    output.record({key: document[key] for key in ("owner", "pending_owner", "admin")})
    output.record(units.in_words(document["tools"]), title="Settings for tools")
    keep = units.in_words(document["leaders"])
    output.record(keep, title="Settings for leaders and invocations")
    output.note(f"With these settings, {cost_in_words(document['cost'])}.")
