"""The command `nexus-tools tool show`, which shows one tool."""

from typing import Any

import click

from nexus_tools.cli.framework import Output, Session, complete_fqns, query_command
from nexus_tools.cli.shared.collateral import find_suspensions
from nexus_tools.cli.tool.proof import CHECK_DOMAIN, check_domain, proof_document, proof_in_words


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@CHECK_DOMAIN
@query_command
async def command(session: Session, *, fqn: str, query_domain: bool | None) -> None:
    """Show the tool FQN: its definition, ports, state, price, owner, operators and leaders.

    The command caches a domain's list of owners for a day.
    """
    from nexus_tools.cli.tool.record import tool_documents
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            tool = await nexus.tools.get(name)
            (document,) = await tool_documents(nexus.tools, [tool])
            slashed = await find_suspensions(nexus.tools, [tool])
        proof = await check_domain(session, nexus, tool, query_domain)
    document |= {"proof": proof_document(proof)}
    _print(session.output, document, [suspension.reason for suspension in slashed])


def _print(output: Output, document: dict[str, Any], reasons: list[str | None]) -> None:
    from nexus_tools.cli.tool.record import LABELS, ports, tool_in_words

    if output.as_json:
        output.document(document)
        return
    lines = ports(document)
    words = tool_in_words(document) | {"proof": proof_in_words(document["proof"])}
    words["reason"] = next(iter(reasons), None)
    output.record(words | lines, LABELS | {key: key for key in lines})
