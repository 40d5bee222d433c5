"""`nexus-tools admin configure`: the settings for what is to come."""

from typing import Any

import click

from nexus_tools.cli.admin.cost import cost_document, cost_in_words
from nexus_tools.cli.framework import Session, asked, carry_out, report, writes
from nexus_tools.errors import UsageError

_SWITCH = {"true": True, "false": False}


@click.command()
@click.argument("whom", metavar="WHOM", type=click.Choice(["tools", "leaders"]))
@click.argument("settings", metavar="NAME=VALUE...", nargs=-1, required=True)
@writes
async def command(session: Session, whom: str, settings: tuple[str, ...]) -> None:
    """Change what new tools, or new leaders and invocations, have to keep to.

    As in `collateral_mist=2000000000`; what is not named stays, and `nexus-tools admin show --json`
    shows all. What is registered or requested already keeps its terms. Fees are in units of gas and
    follow its price: it is said what an invocation costs by that. With `accepting=false` of tools
    no tool is registered, with that of leaders no leader is registered and no invocation requested;
    all that is there goes on, and out.
    """
    from msgspec.structs import replace

    async with session.nexus() as nexus:
        service: Any = nexus.tools if whom == "tools" else nexus.leaders
        before = await service.settings()
        values = _values(before, settings)
        changed = replace(before, **values)
        done = f"{whom} have to keep to {', '.join(settings)}"
        if whom == "leaders":
            gas_price = await nexus.client.gas_price()
            session.output.note(f"Today, {cost_in_words(cost_document(before, gas_price))}.")
            session.output.note(f"By that, {cost_in_words(cost_document(changed, gas_price))}.")
        sent = await carry_out(
            session,
            service,
            lambda registry: registry.configure(changed),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    report(session.output, sent, done, values)


def _values(settings: Any, changes: tuple[str, ...]) -> dict[str, int | bool]:
    """What is written as NAME=VALUE, of these settings. Raises `setting_unknown`."""
    known = [name for name in settings.__struct_fields__ if name != "revision"]  # that counts
    values: dict[str, int | bool] = {}
    for change in changes:
        name, _, text = change.partition("=")
        if name in known and isinstance(getattr(settings, name), bool):
            value: int | bool | None = _SWITCH.get(text)
        else:
            value = int(text) if name in known and text.isdecimal() else None
        if value is None:
            raise UsageError(
                "setting_unknown",
                f"{change[:80]!r} sets nothing: write NAME=NUMBER, or accepting=true or false",
                hint=f"settings are {', '.join(known)}",
            )
        values[name] = value
    return values
