"""The commands `nexus-tools tool offer` and `accept`, which transfer a name with its tools."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.shared.offer import CANCEL_OFFER, OFFERED, describe_offer, offer_recipient
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nexus_tools.contracts.move_bindings.tool import Tool

_COLUMNS = {
    "fqn": "Tool",
    "url": "URL (kept)",
    "price": "Price (kept)",
    "leaders": "Leaders (kept)",
    "payout": "Payout (becomes you)",
    "operators": "Operators (removed)",
    "keys": "Keys (removed)",
}


@click.command()
@click.argument("name")
@OFFERED
@CANCEL_OFFER
@transaction_command
async def offer(session: Session, name: str, recipient: str | None, *, cancel: bool) -> None:
    """Offer NAME, for example xyz.example.math.add, to RECIPIENT.

    RECIPIENT is an address or the alias of a key. When RECIPIENT accepts, all versions of the tool
    change owner. Nothing changes until then. Use --cancel to withdraw the offer.
    """
    _check_name(name)
    to = offer_recipient(session, recipient, cancel=cancel)
    async with session.nexus() as nexus:
        versions = await nexus.tools.versions(name)
        done = describe_offer(f"{name}, with {units.count(len(versions), 'version')},", recipient)
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            lambda tools: tools.offer(name, to),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    facts = {"name": name, "pending_owner": None if to is None else str(to)}
    report(session.output, sent, done, facts)


@click.command()
@click.argument("name")
@transaction_command
async def accept(session: Session, name: str) -> None:
    """Accept NAME, which was offered to your wallet, with all its versions.

    URLs, prices and leaders stay unchanged. The transaction also makes you the payout account of
    each version, and removes the former owner's operators and keys. Versions no longer require
    signed answers.
    """
    _check_name(name)
    async with session.nexus() as nexus:
        with session.output.progress("reading the registry"):
            found = await nexus.tools.name(name)
            versions = await nexus.tools.versions(name)
        if not session.output.as_json:
            _show(session.output, versions)
        done = f"accepted {name} from {found.owner.owner}"
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            lambda tools: tools.accept(name),
            question=lambda simulated: confirmation_prompt(
                f"{done}. You receive the payouts. The operators and keys are removed, and signed"
                " answers are not required. URLs, prices and leaders stay unchanged",
                simulated,
            ),
        )
        if not session.dry_run:
            _warn(session.output, versions, await nexus.tools.versions(name))
    report(session.output, sent, done, {"name": name, "versions": list(map(_document, versions))})


def _check_name(name: str) -> None:
    """Raise `name_expected` for the FQN of one version."""
    unversioned, is_fqn, _ = name.partition("@")
    if is_fqn:
        raise UsageError(
            "name_expected",
            f"expected a name without a version, got {name}",
            hint=f"Pass {unversioned}. All versions of a name have the same owner.",
        )


def _document(tool: "Tool") -> dict[str, Any]:
    """Return the version that the object had before the transfer, as JSON."""
    from nexus_tools.tool import format_public_key

    return {
        "fqn": tool.fqn,
        "url": tool.definition.url,
        "price_mist": tool.price_mist,
        "open": tool.accepts_any_leader,
        "leaders": [str(leader) for leader in tool.leaders.entries],
        "payout": str(tool.payout),
        "operators": [str(operator) for operator in tool.operators.entries],
        "keys": [format_public_key(key) for key in tool.keys.keys],
    }


def _show(output: Output, versions: "Sequence[Tool]") -> None:
    """Print which settings stay and which are reset, before the prompt."""
    rows = [units.in_words(_document(tool)) for tool in versions]
    for row in rows:
        row["leaders"] = "any" if row["open"] else row["leaders"]
    output.table(rows, _COLUMNS, empty="")


def _warn(output: Output, shown: "Sequence[Tool]", found: "Sequence[Tool]") -> None:
    """Warn about changes that the former owner made after the tools were shown."""
    stays = {_stays(tool) for tool in shown}
    for tool in found:
        if _stays(tool) not in stays:
            output.warn(
                f"{tool.fqn} changed after it was shown to you."
                f" Run `nexus-tools tool show {tool.fqn}` to see its URL, price and leaders"
            )


def _stays(tool: "Tool") -> tuple[Any, ...]:
    return (
        tool.fqn,
        tool.definition.url,
        tool.price_mist,
        tool.accepts_any_leader,
        tool.leaders.entries,
    )
