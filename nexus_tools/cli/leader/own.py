"""The leader that a command of its owner is about, and what such a command does."""

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
    "--leader", "which", help="The leader's id, or its name, if the wallet has several."
)
"""The option of commands on one leader of the wallet; `own_leader` finds which one is meant."""


async def own_leader(session: Session, leaders: "LeaderRegistry", which: str | None) -> "Leader":
    """The leader with that id, or of those that the wallet owns the one of that name, or the only.

    Raises `leader_missing`, `leader_ambiguous` or `unknown_leader`.
    """
    if which is not None and which.startswith("0x"):
        return await leaders.find(which)
    wallet = session.own_address()
    return only_one(await leaders.owned_by(wallet), which, f"{wallet} owns no leader")


def only_one(found: "tuple[Leader, ...]", which: str | None, none: str) -> "Leader":
    """The leader of that name among those that are meant, or the only one of them.

    `none` says that there is none. Raises `leader_missing` or `leader_ambiguous`.
    """
    named = tuple(each for each in found if which in (None, each.name))
    if not named:
        raise NotFoundError(
            "leader_missing",
            f"{none} that is called {which[:80]!r}" if which else none,
            hint=f"name one of {_listed(found)}"
            if found
            else "`nexus-tools leader register` makes one",
        )
    if len(named) > 1:
        raise UsageError(
            "leader_ambiguous",
            f"{len(named)} leaders are meant",
            hint=f"name one by its id with --leader: {_listed(named)}",
        )
    return named[0]


def run_command(session: Session, wallet: str) -> str:
    """How a leader is run here, with the option `wallet` of its worker's key."""
    loopback = " --allow-loopback" if session.network().is_localnet else ""
    return "nexus-tools leader run" + wallet + loopback


def _listed(leaders: "tuple[Leader, ...]") -> str:
    return ", ".join(f"{each.id} ({each.name})" for each in leaders)


async def act(session: Session, which: str | None, verb: "Verb", tell: "Tell") -> None:
    """Do a verb on a leader of the wallet as `carry_out` does, and report what `tell` says."""
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
