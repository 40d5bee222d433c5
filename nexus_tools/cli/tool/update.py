"""`nexus-tools tool update`: what may change of a registered tool."""

from typing import Any

import click

from nexus_tools.cli.framework import AMOUNT, DURATION, Session, carry_out, report, writes


@click.command()
@click.argument("fqn")
@click.option("--url", help="Where the tool is reached.")
@click.option("--description", help="What the tool does.")
@click.option("--timeout", "timeout_ms", type=DURATION, help="How long an invocation may take: 5s.")
@click.option("--price", type=AMOUNT, help="What an invocation costs, in SUI.")
@click.option("--payout", help="Who is paid for invocations: an address, or a key by its alias.")
@writes
async def command(
    session: Session,
    *,
    fqn: str,
    url: str | None,
    description: str | None,
    timeout_ms: int | None,
    price: int | None,
    payout: str | None,
) -> None:
    """Change the tool FQN, in one transaction. Running invocations keep their terms.

    The owner may change everything; an operator the URL, the timeout and the price. Schemas never
    change: register the next version instead.
    """
    from nexus_tools.tool import ToolFqn

    given = {
        "url": url,
        "description": description,
        "timeout_ms": timeout_ms,
        "price_mist": price,
        "payout": None if payout is None else session.address_of(payout),
    }
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.tools,
            lambda service: service.update(name, **changes),
            question=lambda _: f"Change {', '.join(changes)} of {fqn}?",
        )
    facts = {key: value if isinstance(value, int) else str(value) for key, value in changes.items()}
    report(session.output, sent, f"updated {fqn}", {"fqn": fqn, **facts})
