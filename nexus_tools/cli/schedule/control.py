"""What the owner of a schedule does with it: `nexus-tools schedule pause | resume | …`."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    NAMED,
    Session,
    asked,
    carry_out,
    find_leaders,
    report,
    writes,
)
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Schedules
    from nexus_tools.sui.types.address import Address

    Verb = Callable[[Schedules, Address], Awaitable[Sent]]

SCHEDULE = click.argument("schedule")


@click.command()
@SCHEDULE
@writes
async def pause(session: Session, schedule: str) -> None:
    """Begin nothing of the SCHEDULE for now; what runs goes on."""
    await _act(session, schedule, lambda service, place: service.pause(place), "paused")


@click.command()
@SCHEDULE
@writes
async def resume(session: Session, schedule: str) -> None:
    """Go on with what is planned from now on; what passed meanwhile is not made up for."""
    await _act(session, schedule, lambda service, place: service.resume(place), "resumed")


@click.command()
@SCHEDULE
@click.argument("amount", type=AMOUNT)
@writes
async def refill(session: Session, schedule: str, amount: int) -> None:
    """Add AMOUNT, in SUI, to the funds of a SCHEDULE; anyone may."""
    await _act(
        session,
        schedule,
        lambda service, place: service.refill(place, amount),
        f"added {units.sui(amount)} to",
        {"amount_mist": amount},
    )


@click.command("reset-cursor")
@SCHEDULE
@NAMED
@writes
async def reset_cursor(session: Session, schedule: str, named: tuple[str, ...]) -> None:
    """Let events count from now on, wherever the last one stood that a leader reported.

    A leader that reports an event that never happened can put the cursor of a SCHEDULE ahead of
    all real events. Name other leaders with --leader in the same transaction.
    """
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(schedule)
    async with session.nexus() as nexus:
        leaders = await find_leaders(nexus.leaders, named)
        await act(
            session,
            nexus,
            place,
            lambda service, each: service.reset_cursor(each, leaders),
            "reset the cursor of",
            facts={"leaders": list(map(str, leaders))} if leaders else None,
        )


@click.command()
@SCHEDULE
@writes
async def cancel(session: Session, schedule: str) -> None:
    """Begin nothing more, and take back the funds of a SCHEDULE and what executions left.

    The schedule is deleted, too, for its storage rebate. An execution that runs goes on:
    cancel it first to stop it. The same command takes back what it leaves and deletes the
    schedule later.
    """
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(schedule)
    async with session.nexus() as nexus:
        back_mist = nexus.schedules.back_mist
        sent = await carry_out(
            session,
            nexus.schedules,
            lambda service: service.cancel(place),
            question=lambda rehearsed: asked(_cancelled(schedule, back_mist(rehearsed)), rehearsed),
        )
    back = back_mist(sent)
    report(
        session.output,
        sent,
        _cancelled(schedule, back),
        {"schedule": schedule, "back_mist": back},
    )
    is_deleted = any(event.type.name == "ScheduleDeleted" for event in sent.events)
    if not (is_deleted or session.dry_run):
        session.output.note(
            "an execution has not ended: the same command takes back what it leaves,"
            " and cancelling the execution stops it"
        )


def _cancelled(schedule: str, back_mist: int) -> str:
    return f"cancelled the schedule {schedule}: {units.sui(back_mist)} came back"


async def _act(
    session: Session,
    schedule: str,
    verb: "Verb",
    done: str,
    facts: dict[str, Any] | None = None,
) -> None:
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(schedule)
    async with session.nexus() as nexus:
        await act(session, nexus, place, verb, done, facts=facts)


async def act(
    session: Session,
    nexus: "Nexus",
    schedule: "Address",
    verb: "Verb",
    done: str,
    *,
    facts: dict[str, Any] | None = None,
) -> None:
    """Ask, send what `verb` does with a schedule, and report it as `done`."""
    done = f"{done} the schedule {schedule}"
    sent = await carry_out(
        session,
        nexus.schedules,
        lambda service: verb(service, schedule),
        question=lambda rehearsed: asked(done, rehearsed),
    )
    report(session.output, sent, done, {"schedule": str(schedule)} | (facts or {}))
