"""`nexus-tools tool show`: one tool."""

import click

from nexus_tools.cli.framework import Output, Session, complete_fqns, reads


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@reads
async def command(session: Session, fqn: str) -> None:
    """Show the tool FQN: its definition, its ports, its state, its price and collateral."""
    from nexus_tools.cli.tool.record import tool_document
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            document = tool_document(await nexus.tools.get(name), await nexus.client.now_ms())
    _print(session.output, document)


def _print(output: Output, document: dict[str, object]) -> None:
    from nexus_tools.cli.tool.record import LABELS, for_people, ports

    if output.as_json:
        output.document(document)
        return
    lines = ports(document)
    output.record(for_people(document) | lines, LABELS | {key: key for key in lines})
