"""The identity that closes invocations: its registration, its collateral, its state."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import AMOUNT, Session, asked, carry_out, reads, report, writes
from nexus_tools.cli.pending_slash import claimed_in_words, pending_slash, slash_in_words

if TYPE_CHECKING:
    from nexus_tools.package import Sent
    from nexus_tools.registry import LeaderRegistry, RegisteredLeader
    from nexus_tools.sui.address import Address

Verb = Callable[["LeaderRegistry", "Address"], "Awaitable[Sent]"]
Tell = Callable[["LeaderRegistry", "Sent"], tuple[str, dict[str, Any]]]

LEADER = click.option("--leader", "which", help="The leader's id, if the wallet has several.")
"""The option of commands on one leader; `chosen` finds which one is meant."""

_COLUMNS = {
    "leader": "Leader",
    "name": "Name",
    "state": "State",
    "collateral": "Collateral",
    "claimable": "Claimable",
    "slash": "Pending slash",
    "balance": "Balance",
}


@click.command()
@click.option("--name", help="What the leader is called; the key's alias by default.")
@click.option(
    "--collateral",
    type=AMOUNT,
    help="What is locked, in SUI; by default the least that the registry takes.",
)
@click.option("--inactive", is_flag=True, help="Do not become responsible for invocations yet.")
@writes
async def register(
    session: Session, *, name: str | None, collateral: int | None, inactive: bool
) -> None:
    """Register a leader, lock its collateral, and activate it."""
    known_as = name or session.settings.locate_account(session.wallet_name).what.alias
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        settings = await leaders.settings()
        collateral_mist = settings.collateral_mist if collateral is None else collateral
        locked = units.sui(collateral_mist)
        delay = units.duration(settings.unregister_delay_ms)
        sent, leader = await carry_out(
            session,
            leaders,
            lambda service: service.register(
                known_as, activate=not inactive, collateral_mist=collateral_mist
            ),
            question=lambda _: (
                f"Register the leader {known_as}: lock {locked}, which can be claimed"
                f" {delay} after unregistering?"
            ),
        )
    record = {"leader": str(leader), "name": known_as, "collateral_mist": collateral_mist}
    record["active"] = not inactive
    report(session.output, sent, f"registered the leader {known_as}: {locked} locked", record)


@click.command()
@LEADER
@reads
async def status(session: Session, which: str | None) -> None:
    """Show the leaders of the wallet: their state and their collateral."""
    owner = session.own_address()
    async with session.nexus(signing=False) as nexus:
        leaders = nexus.leaders
        with session.output.progress("reading the registry"):
            ids = [await chosen(leaders, which)] if which else await leaders.caps(owner)
            found = [await leaders.get(leader) for leader in ids]
            now_ms = await leaders.client.now_ms()
            balance = await leaders.client.balance(owner)
    money = {"balance_mist": balance, "balance": units.sui(balance)}
    rows = [_document(leader, now_ms) | money for leader in found]
    empty = "the wallet has no leader: `nexus-tools leader register` makes one"
    session.output.table(rows, _COLUMNS, empty=empty)


@click.command()
@LEADER
@writes
async def activate(session: Session, which: str | None) -> None:
    """Become responsible for new invocations."""
    await _act(session, which, lambda leaders, leader: leaders.activate(leader), _told("active"))


@click.command()
@LEADER
@writes
async def deactivate(session: Session, which: str | None) -> None:
    """Get no new invocations; those that it is responsible for stay."""
    await _act(
        session, which, lambda leaders, leader: leaders.deactivate(leader), _told("inactive")
    )


@click.command()
@LEADER
@writes
async def unregister(session: Session, which: str | None) -> None:
    """Deactivate the leader and start the timer; its collateral can be claimed after the delay."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.leader_registry import LeaderUnregistered

        claimable_at_ms = leaders.emitted(sent, LeaderUnregistered).claimable_at_ms
        claimable = units.utc(claimable_at_ms)
        text = f"the leader is unregistered: its collateral is claimable at {claimable}"
        return text, {"claimable_at_ms": claimable_at_ms}

    await _act(session, which, lambda leaders, leader: leaders.unregister(leader), tell)


@click.command("cancel-unregister")
@LEADER
@writes
async def cancel_unregister(session: Session, which: str | None) -> None:
    """Take the unregistration back; the leader stays inactive."""
    await _act(
        session,
        which,
        lambda leaders, leader: leaders.cancel_unregister(leader),
        _told("inactive"),
    )


@click.command("top-up")
@LEADER
@writes
async def top_up(session: Session, which: str | None) -> None:
    """Bring back what was slashed of a suspended leader; it stays inactive."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.leader_registry import LeaderToppedUp

        amount = leaders.emitted(sent, LeaderToppedUp).amount_mist
        return f"topped the leader up: {units.sui(amount)} locked", {"amount_mist": amount}

    await _act(session, which, lambda leaders, leader: leaders.top_up(leader), tell)


@click.command()
@LEADER
@writes
async def claim(session: Session, which: str | None) -> None:
    """Claim the collateral of the unregistered leader; its identity ends."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.leader_registry import LeaderCollateralClaimed

        event = leaders.emitted(sent, LeaderCollateralClaimed)
        facts = {"amount_mist": event.amount_mist, "held_back_mist": event.held_back_mist}
        gone = "" if event.held_back_mist else ": the leader is gone"
        return claimed_in_words(event, "the leader") + gone, facts

    await _act(session, which, lambda leaders, leader: leaders.claim(leader), tell)


async def chosen(leaders: "LeaderRegistry", which: str | None) -> "Address":
    """The leader that is named, or the only one that the wallet has.

    Raises `leader_missing` or `leader_ambiguous`.
    """
    from nexus_tools.errors import NotFoundError, UsageError
    from nexus_tools.sui.address import Address

    if which is not None:
        return Address.parse(which)
    caps = await leaders.caps()
    if not caps:
        raise NotFoundError(
            "leader_missing",
            f"{leaders.client.address} has no leader on {leaders.client.network.name}",
            hint="`nexus-tools leader register` makes one",
        )
    if len(caps) > 1:
        raise UsageError(
            "leader_ambiguous",
            f"the wallet has {len(caps)} leaders",
            hint=f"name one with --leader: {', '.join(map(str, caps))}",
        )
    return caps[0]


async def _act(session: Session, which: str | None, verb: Verb, tell: Tell) -> None:
    """Do a verb as `carry_out` does, and report what `tell` says about it."""
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        leader = await chosen(leaders, which)
        sent = await carry_out(
            session,
            leaders,
            lambda service: verb(service, leader),
            question=lambda rehearsed: asked(tell(leaders, rehearsed)[0], rehearsed),
        )
        done, facts = tell(leaders, sent)
    report(session.output, sent, done, {"leader": str(leader), **facts})


def _told(state: str) -> Tell:
    return lambda _, __: (f"the leader is {state}", {"state": state})


def _document(leader: "RegisteredLeader", now_ms: int) -> dict[str, Any]:
    collateral = leader.record.collateral
    at_ms = collateral.claimable_at_ms
    claimable = None if at_ms is None else units.utc(at_ms, now_ms)
    slash = pending_slash(collateral, now_ms)
    return {
        "leader": str(leader.id),
        "name": leader.record.name,
        "state": leader.state,
        "collateral_mist": collateral.balance_mist,
        "collateral": units.sui(collateral.balance_mist),
        "claimable_at_ms": at_ms,
        "claimable": claimable,
        "pending_slash": slash,
        "slash": slash_in_words(slash),
    }
