"""The command group `nexus-tools admin slash`, which burns collateral after a public notice."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    FILE,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry, ToolRegistry
    from nexus_tools.sui.types.address import Address

    Slashes = ToolRegistry | LeaderRegistry
    Verb = Callable[[Any, "str | Address"], Awaitable[Sent]]

SLASHED = click.argument("target", metavar="FQN|LEADER")
"""A tool by its FQN, or a leader by its ID or its unique name."""


@click.group()
def command() -> None:
    """Propose, execute, or cancel a slash of a tool's or leader's collateral.

    You can execute a slash from 3 days after its proposal. A proposal expires after 4 days.
    In total, slashes burn at most half of the locked amount, until the owner locks new collateral
    or tops it up. A pending proposal locks only its amount, and does not suspend the tool or
    leader. You cannot propose a slash after the unregister delay of the tool or leader.
    """


@command.command()
@SLASHED
@click.argument("amount", type=AMOUNT)
@click.option("--reason", required=True, help="Reason for the slash, which is published on chain.")
@click.option(
    "--evidence",
    type=FILE,
    required=True,
    help="File with the evidence. Only its SHA-256 digest is published on chain.",
)
@transaction_command
async def propose(
    session: Session, *, target: str, amount: int, reason: str, evidence: Path
) -> None:
    """Propose to burn AMOUNT SUI of the collateral of a tool or a leader."""
    digest = _digest(evidence)
    slash = f"proposed to slash {target} by {units.sui(amount)}"
    done = f"{slash}, to be executed 3 to 4 days from now"
    facts = {"reason": reason, "evidence_sha256": digest.hex()}
    await _act(
        session,
        target,
        lambda service, who: service.propose_slash(who, amount, reason, digest),
        done,
        facts,
    )


@command.command()
@SLASHED
@transaction_command
async def execute(session: Session, target: str) -> None:
    """Execute a slash that was proposed 3 to 4 days ago, and suspend the tool or leader."""
    done = f"slashed {target} and burned the proposed amount"
    await _act(session, target, lambda service, who: service.execute_slash(who), done)


@command.command()
@SLASHED
@transaction_command
async def cancel(session: Session, target: str) -> None:
    """Cancel a proposed slash."""
    done = f"cancelled the proposed slash of {target}"
    await _act(session, target, lambda service, who: service.cancel_slash(who), done)


def _digest(evidence: Path) -> bytes:
    return hashlib.sha256(evidence.read_bytes()).digest()


async def _act(
    session: Session, target: str, verb: "Verb", done: str, facts: dict[str, Any] | None = None
) -> None:
    """Confirm and execute `verb` on a tool or a leader, and report the result."""
    async with session.nexus() as nexus:
        # A target with "@" is an FQN. Users pass the ID of a leader with "@" in its name.
        is_tool = "@" in target
        service: Slashes = nexus.tools if is_tool else nexus.leaders
        who = target if is_tool else (await nexus.leaders.find(target)).id
        sent = await confirm_and_execute(
            session,
            service,
            lambda registry: verb(registry, who),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
        record = {"target": target, **(facts or {}), **_told(service, sent)}
    report(session.output, sent, done, record)


def _told(service: "Slashes", sent: "Sent") -> dict[str, int]:
    """Return the amounts and times from a slash's Move event, in MIST and ms since 1970."""
    from nexus_tools.contracts import parse_event

    event = parse_event(service.deployment, sent.events[0])
    told = ("amount_mist", "remaining_mist", "executable_at_ms", "expires_at_ms")
    return {name: getattr(event, name) for name in told if hasattr(event, name)}
