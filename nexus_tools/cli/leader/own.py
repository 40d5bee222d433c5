"""Selection of the wallet's leader, and execution of transactions for this leader."""

import shlex
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, confirm_and_execute, confirmation_prompt, report
from nexus_tools.errors import NexusError, NotFoundError, UsageError

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address

    Verb = Callable[[LeaderRegistry, Address], Awaitable[Sent]]
    DescribeResult = Callable[[LeaderRegistry, Sent, str], tuple[str, dict[str, Any]]]

LEADER = click.option(
    "--leader",
    "leader_name",
    help="ID or name of the leader. Required if the wallet has several leaders.",
)
"""The option of commands that act on a leader of the wallet. `own_leader` resolves its value."""


async def own_leader(
    session: Session, leaders: "LeaderRegistry", leader_name: str | None
) -> "Leader":
    """Return the leader with this ID, the wallet's leader with this name, or its only leader.

    Raises `leader_missing`, `leader_ambiguous` or `leader_unknown`.
    """
    if leader_name is not None and leader_name.startswith("0x"):
        return await leaders.find(leader_name)
    wallet = session.own_address()
    owned = await leaders.owned_by(wallet)
    hint = _REGISTER_HINT if owned else await _owner_hint(session, leaders)
    return require_single(owned, leader_name, f"{wallet} does not own a leader", hint)


async def _owner_hint(session: Session, leaders: "LeaderRegistry") -> str:
    """Return a hint at the other keys of this machine that own leaders, or at `register`."""
    aliases = await key_aliases(session, leaders, lambda leader: (leader.owner.owner,))
    if not aliases:
        return _REGISTER_HINT
    options = " or ".join(f"--wallet {shlex.quote(alias)}" for alias in aliases)
    return f"Your other keys own leaders. Run the command again with {options}."


async def key_aliases(
    session: Session,
    leaders: "LeaderRegistry",
    addresses: "Callable[[Leader], Iterable[Address]]",
) -> list[str]:
    """Return the aliases of this machine's keys among addresses of the newest leaders."""
    newest = await leaders.list()
    found = (address for leader in newest.items for address in addresses(leader))
    with suppress(NexusError):  # report the command's error instead of this one
        return list(dict.fromkeys(filter(None, map(session.key_alias, found))))
    return []


_REGISTER_HINT = "Run `nexus-tools leader register` to register one."


def require_single(
    found: "tuple[Leader, ...]", leader_name: str | None, none: str, hint: str = _REGISTER_HINT
) -> "Leader":
    """Return the leader with a name among the candidates, or the only candidate.

    `none` and `hint` are the error message and the hint for no candidates. Raises `leader_missing`
    or `leader_ambiguous`.
    """
    named = tuple(item for item in found if leader_name in (None, item.name))
    if not named:
        raise NotFoundError(
            "leader_missing",
            f"{none} named {leader_name[:80]!r}" if leader_name else none,
            hint=f"Use one of {_listed(found)}." if found else hint,
        )
    if len(named) > 1:
        raise UsageError(
            "leader_ambiguous",
            f"the leader is ambiguous: {len(named)} leaders match",
            hint=f"Pass the ID of one with --leader: {_listed(named)}.",
        )
    return named[0]


def run_command(session: Session, alias: str) -> str:
    """Return the command that runs a leader with the key `alias`, or else with the active key."""
    worker = f" --worker {shlex.quote(alias)}" if alias else ""
    loopback = " --allow-loopback" if session.network().is_localnet else ""
    return "nexus-tools leader run" + worker + loopback


def _listed(leaders: "tuple[Leader, ...]") -> str:
    return ", ".join(f"{leader.id} ({leader.name})" for leader in leaders)


async def change_leader(
    session: Session, leader_name: str | None, verb: "Verb", describe: "DescribeResult"
) -> None:
    """Confirm and execute `verb` on the wallet's leader, and report the result of `describe`."""
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        found = await own_leader(session, leaders, leader_name)
        subject = f"the leader {found.name}"
        sent = await confirm_and_execute(
            session,
            leaders,
            lambda service: verb(service, found.id),
            question=lambda simulated: confirmation_prompt(
                describe(leaders, simulated, subject)[0], simulated
            ),
        )
        done, facts = describe(leaders, sent, subject)
    report(session.output, sent, done, {"leader": str(found.id), **facts})
