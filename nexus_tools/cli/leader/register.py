"""The command `nexus-tools leader register`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nexus_tools.cli.framework import (
    ACCOUNT,
    AMOUNT,
    Session,
    confirm_and_execute,
    report,
    transaction_command,
)
from nexus_tools.cli.leader.funds import shortages
from nexus_tools.cli.leader.own import run_command
from nexus_tools.cli.shared.collateral import describe_collateral_terms
from nexus_tools.cli.shared.signing_key import read_public_key
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address


@click.command()
@click.option("--name", help="Name of the leader. Default: the alias of the key.")
@click.option(
    "--collateral",
    type=AMOUNT,
    help="Collateral to lock, in SUI. Default: the registry's minimum.",
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    type=ACCOUNT,
    help="Account that closes invocations for the leader. May be repeated. Default: the key that"
    " signs.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="FILE|KEY",
    help="Key that signs requests to tools: a key file, or a public key. May be repeated.",
)
@click.option("--inactive", is_flag=True, help="Do not activate the leader yet.")
@transaction_command
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

    The key that signs becomes the owner. Workers are the keys on the machines that run the Leader.
    Workers close invocations, receive the fees, and have no other rights. If the key that signs
    already owns a leader with this name, the command does not register another leader, even if two
    processes run the command at once.
    """
    known_as = name or _default_name(session)
    public_keys = [read_public_key(key) for key in keys]
    addresses = [session.address_of(worker) for worker in workers] or [session.own_address()]
    terms = {"workers": addresses, "keys": public_keys, "activate": not inactive}
    async with session.nexus() as nexus:
        registered = await _register_once(session, nexus.leaders, known_as, collateral, terms)
        if registered is None:
            return
        sent, leader, locked_mist, owned = registered
        made = [] if session.dry_run else [await nexus.leaders.get(leader)]
        poor = await shortages(nexus.client, made)
    if owned and session.yes:
        session.output.warn(f"{_besides(owned)}Pass --leader to commands to select a leader")
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
        worker = addresses[0]
        is_active_key = worker == session.own_address()
        command = run_command(session, "" if is_active_key else session.key_alias(worker))
        for shortage in poor:
            session.output.warn(str(shortage))
        session.output.note(f"next: `{command}`")


class _Registered(NamedTuple):
    """A new leader, and the other leaders of its owner."""

    sent: "Sent"
    leader: "Address"
    locked_mist: int
    owned: "Sequence[Leader]"


async def _register_once(
    session: Session,
    leaders: "LeaderRegistry",
    name: str,
    collateral: int | None,
    terms: "Mapping[str, Any]",
) -> _Registered | None:
    """Register a leader, or report the wallet's leader with this name and return None."""
    while True:
        state = await leaders.state()
        owned = await leaders.owned_by(session.own_address())
        for found in owned:
            if found.name == name:
                _report_existing(session, found)
                return None
        settings = state.settings
        locked_mist = settings.collateral_mist if collateral is None else collateral
        in_words = describe_collateral_terms(locked_mist, settings)
        wanted = {
            **terms,
            "collateral_mist": locked_mist,
            "max_delay_ms": settings.unregister_delay_ms,
            "expected_length": state.length,
        }
        question = f"{_besides(owned)}Register the leader {name}: {in_words}?"
        try:
            sent, leader = await _register(session, leaders, name, wanted, question)
        except WrongStateError as error:
            # Another process may have registered the same leader, so read the leaders again.
            if error.code != "leaders_changed":
                raise
        else:
            return _Registered(sent, leader, locked_mist, owned)


async def _register(
    session: Session,
    leaders: "LeaderRegistry",
    name: str,
    terms: "Mapping[str, Any]",
    question: str,
) -> "tuple[Sent, Address]":
    return await confirm_and_execute(
        session,
        leaders,
        lambda service: service.register(name, **terms),
        question=lambda _: question,
    )


def _report_existing(session: Session, leader: "Leader") -> None:
    """Report the existing leader. Raises `leader_unregistered` if it was unregistered."""
    from nexus_tools.contracts import LeaderState

    state = leader.state
    if state in (LeaderState.UNREGISTERED, LeaderState.CLAIMED):
        back = f"`nexus-tools leader re-register --leader {leader.id}`"
        if state is LeaderState.UNREGISTERED:
            back = f"`nexus-tools leader cancel-unregister --leader {leader.id}`"
        raise WrongStateError(
            "leader_unregistered",
            f"your leader {leader.name} is {state.value}: {leader.id}",
            hint=f"Run {back} to restore it, or pass --name to register another.",
        )
    session.output.done(f"the leader {leader.name} is already registered, nothing was sent")
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
    words = units.in_words(record | {"workers": ", ".join(record["workers"])})
    session.output.created(words, record["leader"])
    if state is LeaderState.INACTIVE:
        activate = f"nexus-tools leader activate --leader {leader.id}"
        session.output.note(f"next: `{activate}`")


def _besides(owned: "Sequence[Leader]") -> str:
    """Describe the leaders that the wallet already owns."""
    named = ", ".join(f"{leader.name} ({leader.id})" for leader in owned)
    return f"You already own the leader {named}. " if owned else ""


def _default_name(session: Session) -> str:
    """Return the alias of the key that signs. Raises `leader_name_missing` for a signer."""
    if session.signer_url is not None:
        message = "the signer has no alias that could be the name of the leader"
        raise UsageError("leader_name_missing", message, hint="Pass --name NAME.")
    return session.own_name()
