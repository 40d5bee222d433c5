"""Selection of the wallet's leader, and the runner of commands on it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, asked, carry_out, report
from nexus_tools.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address

    Verb = Callable[[LeaderRegistry, Address], Awaitable[Sent]]
    Tell = Callable[[LeaderRegistry, Sent, str], tuple[str, dict[str, Any]]]

LEADER = click.option(
    "--leader", "which", help="ID or name of the leader. Required if the wallet has several."
)
"""The option of commands on one leader of the wallet; `own_leader` finds which one is meant."""


async def own_leader(session: Session, leaders: "LeaderRegistry", which: str | None) -> "Leader":
    """Return the leader with an ID, or the wallet's leader with a name, or its only leader.

    Raises `leader_missing`, `leader_ambiguous` or `leader_unknown`.
    """
    if which is not None and which.startswith("0x"):
        return await leaders.find(which)
    wallet = session.own_address()
    return only_one(await leaders.owned_by(wallet), which, f"{wallet} owns no leader")


def only_one(found: "tuple[Leader, ...]", which: str | None, none: str) -> "Leader":
    """Return the leader with a name among the candidates, or the only candidate.

    `none` is the message without candidates. Raises `leader_missing` or `leader_ambiguous`.
    """
    named = tuple(item for item in found if which in (None, item.name))
    if not named:
        raise NotFoundError(
            "leader_missing",
            f"{none} named {which[:80]!r}" if which else none,
            hint=f"Use one of {_listed(found)}."
            if found
            else "Run `nexus-tools leader register` to register one.",
        )
    if len(named) > 1:
        raise UsageError(
            "leader_ambiguous",
            f"the leader is ambiguous: {len(named)} leaders match",
            hint=f"Pass the ID of one with --leader: {_listed(named)}.",
        )
    return named[0]


def run_command(session: Session, wallet: str) -> str:
    """Return the command that runs a leader, with the option `wallet` of its worker's key."""
    loopback = " --allow-loopback" if session.network().is_localnet else ""
    return "nexus-tools leader run" + wallet + loopback


def _listed(leaders: "tuple[Leader, ...]") -> str:
    return ", ".join(f"{leader.id} ({leader.name})" for leader in leaders)


async def act(session: Session, which: str | None, verb: "Verb", tell: "Tell") -> None:
    """Run an action on the wallet's leader with `carry_out`, and report the result of `tell`."""
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        found = await own_leader(session, leaders, which)
        whose = f"the leader {found.name}"
        sent = await carry_out(
            session,
            leaders,
            lambda service: verb(service, found.id),
            question=lambda rehearsed: asked(tell(leaders, rehearsed, whose)[0], rehearsed),
        )
        done, facts = tell(leaders, sent, whose)
    report(session.output, sent, done, {"leader": str(found.id), **facts})
