"""`nexus-tools admin slash`: burning collateral, after everybody could look at the reason."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import AMOUNT, FILE, Session, asked, carry_out, report, writes
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry, ToolRegistry
    from nexus_tools.sui.types.address import Address

    Slashes = ToolRegistry | LeaderRegistry
    Verb = Callable[[Any, "str | Address"], Awaitable[Sent]]

WHOSE = click.argument("whose", metavar="FQN|LEADER")
"""A tool by its FQN, or a leader by its id, or its name where only one has it."""


@click.group()
def command() -> None:
    """Burn of the collateral of a tool or a leader: propose, execute on the 4th day.

    What is burnt comes to half of what was locked at most, until it is locked anew or topped up. A
    proposal that is pending suspends nothing and holds back its amount alone; after 4 days it is
    void. Of who is unregistered nothing can be proposed once the delay is over.
    """


@command.command()
@WHOSE
@click.argument("amount", type=AMOUNT)
@click.option("--reason", required=True, help="Why; everybody reads it on chain.")
@click.option(
    "--evidence",
    type=FILE,
    required=True,
    help="What proves it: its SHA-256 digest goes on chain, the file stays here.",
)
@writes
async def propose(
    session: Session, *, whose: str, amount: int, reason: str, evidence: Path
) -> None:
    """Propose to burn AMOUNT SUI of the collateral of a tool or a leader."""
    digest = _digest(evidence)
    done = f"proposed to slash {whose} by {units.sui(amount)}: it can be executed on the 4th day"
    facts = {"reason": reason, "evidence_sha256": digest.hex()}
    await _act(
        session,
        whose,
        lambda service, who: service.propose_slash(who, amount, reason, digest),
        done,
        facts,
    )


@command.command()
@WHOSE
@writes
async def execute(session: Session, whose: str) -> None:
    """Burn what was proposed 3 days ago, within a day; the tool or leader is suspended by that."""
    done = f"slashed {whose}: what was proposed is burnt"
    await _act(session, whose, lambda service, who: service.execute_slash(who), done)


@command.command()
@WHOSE
@writes
async def cancel(session: Session, whose: str) -> None:
    """Take back what was proposed."""
    done = f"took the proposed slash of {whose} back"
    await _act(session, whose, lambda service, who: service.cancel_slash(who), done)


def _digest(evidence: Path) -> bytes:
    return hashlib.sha256(evidence.read_bytes()).digest()


async def _act(
    session: Session, whose: str, verb: "Verb", done: str, facts: dict[str, Any] | None = None
) -> None:
    """Do a verb on a tool or a leader as `carry_out` does, and report it."""
    async with session.nexus() as nexus:
        # An FQN has a version, and a leader may call itself whatever it likes: then it has an id.
        is_tool = "@" in whose
        service: Slashes = nexus.tools if is_tool else nexus.leaders
        who = whose if is_tool else (await nexus.leaders.find(whose)).id
        sent = await carry_out(
            session,
            service,
            lambda registry: verb(registry, who),
            question=lambda rehearsed: asked(done, rehearsed),
        )
        record = {"whose": whose, **(facts or {}), **_told(service, sent)}
    report(session.output, sent, done, record)


def _told(service: "Slashes", sent: "Sent") -> dict[str, int]:
    """What the event of a slash says of amounts and times, in MIST and ms since 1970."""
    from nexus_tools.contracts import parse_event

    event = parse_event(service.deployment, sent.events[0])
    told = ("amount_mist", "remaining_mist", "due_at_ms", "void_at_ms")
    return {name: getattr(event, name) for name in told if hasattr(event, name)}
