"""The command `nexus-tools admin configure`, which changes registry settings."""

from typing import Any

import click

from nexus_tools.cli.admin.cost import cost_document, cost_in_words
from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.errors import UsageError

_SWITCH = {"true": True, "false": False}


@click.command()
@click.argument("target", metavar="TARGET", type=click.Choice(["tools", "leaders"]))
@click.argument("settings", metavar="NAME=VALUE...", nargs=-1, required=True)
@transaction_command
async def command(session: Session, target: str, settings: tuple[str, ...]) -> None:
    """Change registry settings for tools, or for leaders and invocations.

    TARGET is `tools` or `leaders`. Pass settings as NAME=VALUE, for example
    `collateral_mist=2000000000`. Other settings stay unchanged. `nexus-tools admin show --json`
    lists all settings.

    Existing registrations and invocations keep their terms. Fees are set in gas units, so their
    amount follows the gas price. The command prints the resulting cost of an invocation. With
    `accepting=false`, the registry rejects new tools, or new leaders and invocations. Existing
    tools, leaders and invocations continue. Owners can still withdraw their collateral.
    """
    from msgspec.structs import replace

    async with session.nexus() as nexus:
        service: Any = nexus.tools if target == "tools" else nexus.leaders
        before = await service.settings()
        values = _values(before, settings)
        changed = replace(before, **values)
        done = f"changed the settings for {target}: {', '.join(settings)}"
        if target == "leaders":
            gas_price = await nexus.client.gas_price()
            session.output.note(f"Today: {cost_in_words(cost_document(before, gas_price))}.")
            session.output.note(f"After: {cost_in_words(cost_document(changed, gas_price))}.")
        sent = await confirm_and_execute(
            session,
            service,
            lambda registry: registry.configure(changed),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    report(session.output, sent, done, values)


def _values(settings: Any, changes: tuple[str, ...]) -> dict[str, int | bool]:
    """Parse NAME=VALUE changes of `settings`. Raises `setting_unknown`."""
    known = [
        name for name in settings.__struct_fields__ if name != "revision"
    ]  # `revision` counts changes and is not a setting
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
                f"expected NAME=NUMBER, accepting=true or accepting=false, got {change[:80]!r}",
                hint=f"Use one of the settings {', '.join(known)}.",
            )
        values[name] = value
    return values
