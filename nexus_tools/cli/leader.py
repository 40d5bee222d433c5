"""`nexus-tools leader`: the identity that settles outcomes, and the daemon that acts under it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import reads, writes
from nexus_tools.cli.reach import reaches
from nexus_tools.cli.sent import asked, carry_out, report
from nexus_tools.cli.session import Session

if TYPE_CHECKING:
    from nexus_tools.registry import LeaderRegistry, RegisteredLeader, Sent
    from nexus_tools.sui.address import Address

Verb = Callable[["LeaderRegistry", "Address"], "Awaitable[Sent]"]
Tell = Callable[["LeaderRegistry", "Sent"], tuple[str, dict[str, Any]]]

_LEADER = click.option("--leader", "which", help="The leader's id, if the wallet has several.")
_COLUMNS = {
    "leader": "Leader",
    "name": "Name",
    "state": "State",
    "bond": "Bond",
    "claimable": "Claimable",
}


@click.group()
def command() -> None:
    """Carry invocations from the chain to tools and settle their outcomes."""


@command.command()
@click.option("--name", help="What the leader is called; the key's alias by default.")
@click.option("--inactive", is_flag=True, help="Do not become responsible for invocations yet.")
@writes
async def register(session: Session, name: str | None, *, inactive: bool) -> None:
    """Register a leader, lock its bond, and activate it."""
    known_as = name or session.wallet().account(session.signer().address).alias
    async with session.leaders() as leaders:
        settings = await leaders.settings()
        bond, delay = units.sui(settings.bond_mist), units.duration(settings.unregister_delay_ms)
        sent, leader = await carry_out(
            session,
            leaders,
            lambda service: service.register_leader(known_as, activate=not inactive),
            question=lambda _: (
                f"Register the leader {known_as}: lock {bond}, which can be claimed"
                f" {delay} after unregistering?"
            ),
        )
    record = {"leader": str(leader), "name": known_as, "bond_mist": settings.bond_mist}
    record["active"] = not inactive
    report(session.output, sent, f"registered the leader {known_as}: {bond} locked", record)


@command.command()
@_LEADER
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="SQLite file.")
@reaches
@click.option(
    "--health-port",
    type=click.IntRange(0, 65_535),
    help="Serve /healthz, /readyz and /metrics on this port of 127.0.0.1.",
)
@click.option("--max-concurrent", type=int, help="Requests to tools at the same time.")
@click.option("--max-concurrent-per-tool", type=int, help="Requests to one tool at the same time.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="How to write the log.")
@reads
async def run(session: Session, which: str | None, log_format: str | None, **options: Any) -> None:
    """Run the Leader until Ctrl-C: then it finishes what is running.

    Further settings are read from NEXUS_TOOLS_LEADER_… in the environment. It remembers in its
    journal what it has seen and sent, by default in the data directory.
    """
    from nexus_tools.cli.leader_daemon import log_to_stderr, run_leader  # noqa: PLC0415

    log_to_stderr(log_format or ("json" if session.output.as_json else None))
    await run_leader(session, which, options)


@command.command()
@_LEADER
@reads
async def status(session: Session, which: str | None) -> None:
    """Show the leaders of the wallet: their state and their bonds."""
    async with session.leaders() as leaders:
        with session.output.progress("reading the registry"):
            ids = [await chosen(leaders, which)] if which else await leaders.caps()
            found = [await leaders.get(leader) for leader in ids]
            now_ms = await leaders.client.now_ms()
            balance = await leaders.client.balance(leaders.client.address)
    rows = [_document(leader, now_ms) | {"balance_mist": balance} for leader in found]
    empty = "the wallet has no leader: `nexus-tools leader register` makes one"
    session.output.table(rows, _COLUMNS, empty=empty)


@command.command()
@_LEADER
@writes
async def activate(session: Session, which: str | None) -> None:
    """Become responsible for new invocations."""
    await _act(session, which, lambda leaders, leader: leaders.activate(leader), _told("active"))


@command.command()
@_LEADER
@writes
async def deactivate(session: Session, which: str | None) -> None:
    """Get no new invocations; those that it is responsible for stay."""
    await _act(
        session, which, lambda leaders, leader: leaders.deactivate(leader), _told("inactive")
    )


@command.command()
@_LEADER
@writes
async def unregister(session: Session, which: str | None) -> None:
    """Deactivate the leader and start the timer; its bond can be claimed after the delay."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.registry.events import LeaderUnregistered  # noqa: PLC0415

        claimable_at_ms = leaders.emitted(sent, LeaderUnregistered).claimable_at_ms
        claimable = units.moment(claimable_at_ms)
        text = f"the leader is unregistered: its bond is claimable at {claimable}"
        return text, {"claimable_at_ms": claimable_at_ms}

    await _act(session, which, lambda leaders, leader: leaders.unregister(leader), tell)


@command.command("cancel-unregister")
@_LEADER
@writes
async def cancel_unregister(session: Session, which: str | None) -> None:
    """Take the unregistration back; the leader stays inactive."""
    await _act(
        session,
        which,
        lambda leaders, leader: leaders.cancel_unregister(leader),
        _told("inactive"),
    )


@command.command("top-up")
@_LEADER
@writes
async def top_up(session: Session, which: str | None) -> None:
    """Make the bond of a slashed leader whole again; it stays inactive."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.registry.events import LeaderToppedUp  # noqa: PLC0415

        amount = leaders.emitted(sent, LeaderToppedUp).amount_mist
        return f"topped the bond up: {units.sui(amount)} locked", {"amount_mist": amount}

    await _act(session, which, lambda leaders, leader: leaders.top_up(leader), tell)


@command.command()
@_LEADER
@writes
async def claim(session: Session, which: str | None) -> None:
    """Take the bond of the unregistered leader back; its identity ends."""

    def tell(leaders: "LeaderRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.registry.events import LeaderBondClaimed  # noqa: PLC0415

        amount = leaders.emitted(sent, LeaderBondClaimed).amount_mist
        return f"claimed {units.sui(amount)}: the leader is gone", {"amount_mist": amount}

    await _act(session, which, lambda leaders, leader: leaders.claim_bond(leader), tell)


async def chosen(leaders: "LeaderRegistry", which: str | None) -> "Address":
    """The leader that is named, or the only one that the wallet has.

    Raises `leader_missing` or `leader_ambiguous`.
    """
    from nexus_tools.errors import NotFoundError, UsageError  # noqa: PLC0415
    from nexus_tools.sui.address import Address  # noqa: PLC0415 - not for `--help`

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
    async with session.leaders() as leaders:
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
    bond = leader.record.bond
    at_ms = bond.reclaimable_at_ms
    claimable = None if at_ms is None else units.moment_from(at_ms, now_ms)
    return {
        "leader": str(leader.id),
        "name": leader.record.name,
        "state": _state(leader),
        "bond_mist": bond.balance_mist,
        "bond": units.sui(bond.balance_mist),
        "claimable_at_ms": at_ms,
        "claimable": claimable,
    }


def _state(leader: "RegisteredLeader") -> str:
    if leader.active:
        return "active"
    if leader.record.bond.released_at_ms is not None:
        return "unregistered"
    return "inactive" if leader.record.bond.is_whole else "slashed"
