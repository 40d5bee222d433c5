"""`nexus-tools leader register`: a leader, and who works for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.collateral import terms_in_words
from nexus_tools.cli.framework import ACCOUNT, AMOUNT, Session, carry_out, report, writes
from nexus_tools.cli.leader.funds import shortages
from nexus_tools.cli.leader.own import run_command
from nexus_tools.cli.signing_key import read_public_key
from nexus_tools.errors import NotNowError

if TYPE_CHECKING:
    from nexus_tools.package.move.leader import Leader


@click.command()
@click.option("--name", help="What the leader is called; the key's alias by default.")
@click.option(
    "--collateral",
    type=AMOUNT,
    help="What is locked, in SUI; by default the least that the registry takes.",
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    type=ACCOUNT,
    help="Who closes invocations in its name; may be repeated. By default the key that signs.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="FILE|KEY",
    help="What signs its requests to tools: the file of a key, or its public half; may be"
    " repeated.",
)
@click.option("--inactive", is_flag=True, help="Let no invocation name it yet.")
@writes
async def command(
    session: Session,
    *,
    name: str | None,
    collateral: int | None,
    workers: tuple[str, ...],
    keys: tuple[str, ...],
    inactive: bool,
) -> None:
    """Register a leader, lock its collateral, and activate it.

    Its owner is the key that signs. Workers are the keys that lie on machines: they close
    invocations for the fees, and can do nothing else. If the key owns a leader of this name
    already, nothing is registered.
    """
    known_as = name or session.settings.locate_account(session.wallet_name).what.alias
    public_keys = [read_public_key(key) for key in keys]
    addresses = [session.address_of(worker) for worker in workers] or [session.own_address()]
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        owned = await leaders.owned_by(session.own_address())
        for found in owned:
            if found.name == known_as:
                _report_existing(session, found)
                return
        settings = await leaders.settings()
        locked_mist = settings.collateral_mist if collateral is None else collateral
        terms = terms_in_words(locked_mist, settings)
        sent, leader = await carry_out(
            session,
            leaders,
            lambda service: service.register(
                known_as,
                workers=addresses,
                keys=public_keys,
                activate=not inactive,
                collateral_mist=locked_mist,
                max_delay_ms=settings.unregister_delay_ms,
            ),
            question=lambda _: f"{_besides(owned)}Register the leader {known_as}: {terms}?",
        )
        poor = () if session.dry_run else await shortages(nexus.client, [await leaders.get(leader)])
    if owned and session.yes:
        session.output.warn(f"{_besides(owned)}Name one of them with --leader from now on")
    record = {
        "leader": str(leader),
        "name": known_as,
        "workers": list(map(str, addresses)),
        "collateral_mist": locked_mist,
        "active": not inactive,
    }
    done = f"registered the leader {known_as}: {units.sui(locked_mist)} locked"
    report(session.output, sent, done, record, result=str(leader))
    if not session.dry_run:
        command = run_command(session, session.wallet_option(addresses[0]))
        for shortage in poor:
            session.output.warn(str(shortage))
        session.output.note(f"`{command}` lets it work")


def _report_existing(session: Session, leader: "Leader") -> None:
    """Report the leader of that name. Raises `leader_gone` if it was unregistered."""
    from nexus_tools.package import LeaderState

    state = leader.state
    if state in (LeaderState.UNREGISTERED, LeaderState.CLAIMED):
        back = f"`nexus-tools leader re-register --leader {leader.id}`"
        if state is LeaderState.UNREGISTERED:
            back = f"`nexus-tools leader cancel-unregister --leader {leader.id}`"
        raise NotNowError(
            "leader_gone",
            f"your leader {leader.name} is {state.value}: {leader.id}",
            hint=f"{back} brings it back; --name registers another",
        )
    session.output.done(f"the leader {leader.name} is registered already, nothing was sent")
    record: dict[str, Any] = {
        "leader": str(leader.id),
        "name": leader.name,
        "workers": list(map(str, leader.workers.entries)),
        "collateral_mist": leader.collateral.balance_mist,
        "active": leader.is_active,
    }
    if session.output.as_json:
        session.output.document(record | {"digest": None})
        return
    session.output.record(units.in_words(record | {"workers": ", ".join(record["workers"])}))
    if state is LeaderState.INACTIVE:
        activate = f"nexus-tools leader activate --leader {leader.id}"
        session.output.note(f"`{activate}` lets invocations name it")


def _besides(owned: "Sequence[Leader]") -> str:
    """Name the leaders that the wallet owns already."""
    named = ", ".join(f"{each.name} ({each.id})" for each in owned)
    return f"You own the leader {named} already. " if owned else ""
