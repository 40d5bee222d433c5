"""`nexus-tools leader register`: a leader, and who works for it."""

import click

from nexus_tools import units
from nexus_tools.cli.collateral import terms_in_words
from nexus_tools.cli.framework import ACCOUNT, AMOUNT, Session, carry_out, report, writes
from nexus_tools.cli.leader.own import run_command
from nexus_tools.cli.signing_key import read_public_key


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
    invocations for the fees, and can do nothing else.
    """
    known_as = name or session.settings.locate_account(session.wallet_name).what.alias
    public_keys = [read_public_key(key) for key in keys]
    addresses = [session.address_of(worker) for worker in workers] or [session.own_address()]
    async with session.nexus() as nexus:
        leaders = nexus.leaders
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
            question=lambda _: f"Register the leader {known_as}: {terms}?",
        )
    record = {
        "leader": str(leader),
        "name": known_as,
        "workers": list(map(str, addresses)),
        "collateral_mist": locked_mist,
        "active": not inactive,
    }
    done = f"registered the leader {known_as}: {units.sui(locked_mist)} locked"
    report(session.output, sent, done, record)
    if not session.dry_run:
        command = run_command(session, session.wallet_option(addresses[0]))
        session.output.note(f"`{command}` lets it work")
