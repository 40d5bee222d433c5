"""The commands for a leader's collateral: unregister, cancel, claim, re-register, and top up."""

import shlex

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    Session,
    confirm_and_execute,
    report,
    transaction_command,
)
from nexus_tools.cli.leader.own import LEADER, change_leader, own_leader
from nexus_tools.cli.shared.collateral import (
    claim_hints,
    describe_cancellation,
    describe_claim,
    describe_collateral_terms,
    describe_re_registration,
    describe_top_up,
    describe_unregistration,
)


@click.command()
@LEADER
@transaction_command
async def unregister(session: Session, leader_name: str | None) -> None:
    """Unregister the leader, and start the delay after which its collateral can be claimed.

    During the delay, the leader can still close the invocations that name it.
    """
    await change_leader(
        session,
        leader_name,
        lambda leaders, leader: leaders.unregister(leader),
        describe_unregistration,
    )
    if not (session.dry_run or session.output.as_json):
        claim = "nexus-tools leader claim" + _named(leader_name)
        session.output.note(f"after the delay, claim the collateral with `{claim}`")


@click.command("cancel-unregister")
@LEADER
@transaction_command
async def cancel_unregister(session: Session, leader_name: str | None) -> None:
    """Cancel the unregistration. The leader is active again if it was active before."""
    await change_leader(
        session,
        leader_name,
        lambda leaders, leader: leaders.cancel_unregister(leader),
        describe_cancellation,
    )


@click.command()
@LEADER
@transaction_command
async def claim(session: Session, leader_name: str | None) -> None:
    """Claim the collateral of the unregistered leader after the unregister delay."""
    with claim_hints(
        "nexus-tools leader unregister" + _named(leader_name), "nexus-tools leader status"
    ):
        await change_leader(
            session, leader_name, lambda leaders, leader: leaders.claim(leader), describe_claim
        )


@click.command("re-register")
@LEADER
@click.option(
    "--collateral",
    type=AMOUNT,
    help="Collateral to lock, in SUI. Default: the registry's minimum.",
)
@transaction_command
async def re_register(session: Session, leader_name: str | None, collateral: int | None) -> None:
    """Register the claimed leader again with new collateral."""
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        found = await own_leader(session, leaders, leader_name)
        settings = await leaders.settings()
        locked_mist = settings.collateral_mist if collateral is None else collateral
        sent = await confirm_and_execute(
            session,
            leaders,
            lambda service: service.re_register(
                found.id, collateral_mist=locked_mist, max_delay_ms=settings.unregister_delay_ms
            ),
            question=lambda _: (
                f"Re-register the leader {found.name}:"
                f" {describe_collateral_terms(locked_mist, settings)}?"
            ),
        )
        done, facts = describe_re_registration(leaders, sent, f"the leader {found.name}")
    report(session.output, sent, done, {"leader": str(found.id), **facts})


@click.command("top-up")
@LEADER
@transaction_command
async def top_up(session: Session, leader_name: str | None) -> None:
    """Restore the suspended leader's collateral to the required amount."""
    await change_leader(
        session, leader_name, lambda leaders, leader: leaders.top_up(leader), describe_top_up
    )


def _named(leader_name: str | None) -> str:
    """Return the option `--leader` with the user's value."""
    return f" --leader {shlex.quote(leader_name)}" if leader_name else ""
