"""The admin's verbs."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import AMOUNT, Session, asked, carry_out, report, writes
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.package import Sent
    from nexus_tools.registry import LeaderRegistry, ToolRegistry


@click.command()
@click.argument("whose", metavar="FQN|LEADER")
@click.argument("amount", type=AMOUNT)
@click.option("--reason", required=True, help="Why; everybody reads it on chain.")
@writes
async def slash(session: Session, whose: str, amount: int, reason: str) -> None:
    """Take AMOUNT SUI of the collateral of a tool or a leader, which is suspended by that."""
    from nexus_tools.sui.address import Address

    done = f"slashed {whose}: {units.sui(amount)} taken"
    async with session.nexus() as nexus:

        async def of_tool(tools: "ToolRegistry") -> "Sent":
            return await tools.slash(whose, amount, reason)

        async def of_leader(leaders: "LeaderRegistry") -> "Sent":
            return await leaders.slash(Address.parse(whose), amount, reason)

        def question(rehearsed: "Sent") -> str:
            return asked(done, rehearsed)

        if whose.startswith("0x"):
            sent = await carry_out(session, nexus.leaders, of_leader, question=question)
        else:
            sent = await carry_out(session, nexus.tools, of_tool, question=question)
    report(session.output, sent, done, {"whose": whose, "amount_mist": amount, "reason": reason})


@click.command()
@click.argument("whom", metavar="WHOM", type=click.Choice(["tools", "leaders"]))
@click.argument("settings", metavar="NAME=NUMBER...", nargs=-1, required=True)
@writes
async def configure(session: Session, whom: str, settings: tuple[str, ...]) -> None:
    """Change what new tools, or new leaders and invocations, have to keep to.

    As in `collateral_mist=2000000000`; what is not named stays. What is registered or requested
    already keeps its terms.
    """
    async with session.nexus() as nexus:
        service: Any = nexus.tools if whom == "tools" else nexus.leaders
        changed = _changed(await service.settings(), settings)
        done = f"{whom} have to keep to {', '.join(settings)}"
        sent = await carry_out(
            session,
            service,
            lambda registry: registry.configure(changed),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    report(session.output, sent, done, dict(each.split("=", 1) for each in settings))


def _changed(settings: Any, changes: tuple[str, ...]) -> Any:
    """Settings with those that are written as NAME=NUMBER. Raises `setting_unknown`."""
    from msgspec.structs import replace

    known = settings.__struct_fields__
    numbers = {}
    for change in changes:
        name, _, number = change.partition("=")
        if name not in known or not number.isdecimal():
            raise UsageError(
                "setting_unknown",
                f"{change[:80]!r} sets nothing: write NAME=NUMBER",
                hint=f"settings are {', '.join(known)}",
            )
        numbers[name] = int(number)
    return replace(settings, **numbers)
