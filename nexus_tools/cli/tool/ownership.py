"""Who owns a name with all its tools, and who takes it over: `nexus-tools tool offer | accept`."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, asked, carry_out, report, writes
from nexus_tools.cli.shared.offer import CANCEL, OFFERED, offered_address, offered_in_words
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nexus_tools.contracts.move_bindings.tool import Tool

_COLUMNS = {
    "fqn": "Tool",
    "url": "URL stays",
    "price": "Price stays",
    "leaders": "Leaders stay",
    "payout": "Payout, becomes you",
    "operators": "Operators, removed",
    "keys": "Keys, removed",
}


@click.command()
@click.argument("name")
@OFFERED
@CANCEL
@writes
async def offer(session: Session, name: str, who: str | None, *, cancel: bool) -> None:
    """Offer NAME, as in xyz.example.math.add, to WHO: an address, or a key by its alias.

    All versions of it pass on, once WHO accepts. Until then everything stays as it is, and --cancel
    takes the offer back.
    """
    _check_name(name)
    to = offered_address(session, who, cancel=cancel)
    async with session.nexus() as nexus:
        versions = await nexus.tools.versions(name)
        done = offered_in_words(f"{name}, with {units.count(len(versions), 'version')},", who)
        sent = await carry_out(
            session,
            nexus.tools,
            lambda tools: tools.offer(name, to),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    facts = {"name": name, "offered": None if to is None else str(to)}
    report(session.output, sent, done, facts)


@click.command()
@click.argument("name")
@writes
async def accept(session: Session, name: str) -> None:
    """Take over NAME, which was offered to the wallet, with all its versions.

    URLs, prices and leaders stay. In the same transaction you become the payout of each version,
    operators and keys of the former owner are removed, and answers need not be signed.
    """
    _check_name(name)
    async with session.nexus() as nexus:
        with session.output.progress("reading the registry"):
            found = await nexus.tools.name(name)
            versions = await nexus.tools.versions(name)
        if not session.output.as_json:
            _show(session.output, versions)
        done = f"took over {name} of {found.owner.owner}"
        sent = await carry_out(
            session,
            nexus.tools,
            lambda tools: tools.accept(name),
            question=lambda rehearsed: asked(
                f"{done}; payouts become yours, operators and keys are removed, answers need not be"
                " signed; URLs, prices and leaders stay",
                rehearsed,
            ),
        )
        if not session.dry_run:
            _warn(session.output, versions, await nexus.tools.versions(name))
    report(session.output, sent, done, {"name": name, "versions": list(map(_document, versions))})


def _check_name(name: str) -> None:
    """Raises `name_expected` for the FQN of one version."""
    unversioned, is_fqn, _ = name.partition("@")
    if is_fqn:
        raise UsageError(
            "name_expected",
            f"{name} is one version, and all versions of a name have one owner",
            hint=f"name {unversioned}",
        )


def _document(tool: "Tool") -> dict[str, Any]:
    """A version as it was before it was taken over, as JSON."""
    from nexus_tools.tool import public_key_text

    return {
        "fqn": tool.fqn,
        "url": tool.definition.url,
        "price_mist": tool.price_mist,
        "open": tool.open,
        "leaders": [str(leader) for leader in tool.leaders.entries],
        "payout": str(tool.payout),
        "operators": [str(operator) for operator in tool.operators.entries],
        "keys": [public_key_text(key) for key in tool.keys.keys],
    }


def _show(output: Output, versions: "Sequence[Tool]") -> None:
    """What stays and what is reset, before anybody is asked."""
    rows = [units.in_words(_document(tool)) for tool in versions]
    for row in rows:
        row["leaders"] = "any" if row["open"] else row["leaders"]
    output.table(rows, _COLUMNS, empty="")


def _warn(output: Output, shown: "Sequence[Tool]", found: "Sequence[Tool]") -> None:
    """Warn of what the former owner changed between the look at the tools and the transaction."""
    stays = {_stays(tool) for tool in shown}
    for tool in found:
        if _stays(tool) not in stays:
            output.warn(
                f"{tool.fqn} was changed at the last moment: `nexus-tools tool show {tool.fqn}`"
                " shows its URL, its price and its leaders"
            )


def _stays(tool: "Tool") -> tuple[Any, ...]:
    return tool.fqn, tool.definition.url, tool.price_mist, tool.open, tool.leaders.entries
