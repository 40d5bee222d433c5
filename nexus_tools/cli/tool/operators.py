"""`nexus-tools tool operators`: who may run a tool day by day besides its owner."""

import click

from nexus_tools.cli.framework import Session, asked, carry_out, reads, report, writes


@click.group()
def command() -> None:
    """Let others change URL, timeout and price of a tool, and take that back.

    What an operator has is a cap, an object of their wallet, which counts while the tool lists it.
    """


@command.command()
@click.argument("fqn")
@click.argument("who")
@writes
async def add(session: Session, fqn: str, who: str) -> None:
    """Make WHO, an address or a key by its alias, an operator of the tool FQN."""
    from nexus_tools.package.move.tool import ToolOperatorChanged

    operator = session.address_of(who)
    done = f"{who} is an operator of {fqn}"
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.tools,
            lambda tools: tools.issue_operator_cap(fqn, operator),
            question=lambda rehearsed: asked(done, rehearsed),
        )
        cap = nexus.tools.emitted(sent, ToolOperatorChanged).operator_cap
    report(session.output, sent, done, {"fqn": fqn, "operator": str(operator), "cap": str(cap)})


@command.command()
@click.argument("fqn")
@click.argument("cap")
@writes
async def remove(session: Session, fqn: str, cap: str) -> None:
    """Take the right to run the tool FQN from the operator with the cap CAP."""
    from nexus_tools.sui.address import Address

    done = f"{cap} is no operator cap of {fqn} any more"
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.tools,
            lambda tools: tools.revoke_operator_cap(fqn, Address.parse(cap)),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    report(session.output, sent, done, {"fqn": fqn, "cap": cap})


@command.command("list")
@click.argument("fqn")
@reads
async def list_caps(session: Session, fqn: str) -> None:
    """List the operator caps of the tool FQN, and who has them."""
    from nexus_tools.sui.object import AddressOwner

    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
        caps = await nexus.client.objects(tool.operators)
    rows = [
        {
            "cap": str(cap.id),
            "operator": str(cap.owner.address) if isinstance(cap.owner, AddressOwner) else None,
        }
        for cap in caps
        if cap is not None
    ]
    session.output.table(
        rows, {"cap": "Cap", "operator": "Operator"}, empty=f"{fqn} has no operators"
    )
