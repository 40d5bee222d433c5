"""The commands of a schedule's owner: `schedule pause`, `resume`, `refill`, `cancel` and others."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    find_leaders,
    leaders_option,
    report,
    transaction_command,
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
@transaction_command
async def pause(session: Session, schedule: str) -> None:
    """Pause a SCHEDULE. Running executions continue."""
    await _act(session, schedule, lambda service, place: service.pause(place), "paused")


@click.command()
@SCHEDULE
@transaction_command
async def resume(session: Session, schedule: str) -> None:
    """Resume a SCHEDULE with its next planned time. Times during the pause are skipped."""
    await _act(session, schedule, lambda service, place: service.resume(place), "resumed")


@click.command()
@SCHEDULE
@click.argument("amount", type=AMOUNT)
@transaction_command
async def refill(session: Session, schedule: str, amount: int) -> None:
    """Add AMOUNT SUI to the funds of a SCHEDULE. Anyone can add funds."""
    await _act(
        session,
        schedule,
        lambda service, place: service.refill(place, amount),
        f"added {units.sui(amount)} to",
        {"amount_mist": amount},
    )


@click.command("reset-cursor")
@SCHEDULE
@leaders_option("Leader that replaces the present ones")
@transaction_command
async def reset_cursor(session: Session, schedule: str, leader_names: tuple[str, ...]) -> None:
    """Reset the event cursor of a SCHEDULE, so that events from now on start executions.

    A leader that reports an event that never happened can move the cursor ahead of all real events.
    To replace that leader in the same transaction, name other leaders with --leader.
    """
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(schedule)
    async with session.nexus() as nexus:
        leaders = await find_leaders(nexus.leaders, leader_names)
        await change_schedule(
            session,
            nexus,
            place,
            lambda service, schedule_id: service.reset_cursor(schedule_id, leaders),
            "reset the cursor of",
            facts={"leaders": list(map(str, leaders))} if leaders else None,
        )


@click.command()
@SCHEDULE
@transaction_command
async def cancel(session: Session, schedule: str) -> None:
    """Cancel a SCHEDULE and withdraw its remaining funds.

    The funds include leftovers of ended executions. The command also deletes the schedule, which
    refunds its storage deposit. A running execution continues unless you cancel it first. After the
    end of the execution, run the same command again to collect its leftovers and delete the
    schedule.
    """
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(schedule)
    async with session.nexus() as nexus:
        back_mist = nexus.schedules.returned_mist
        sent = await confirm_and_execute(
            session,
            nexus.schedules,
            lambda service: service.cancel(place),
            question=lambda simulated: confirmation_prompt(
                _cancelled(schedule, back_mist(simulated)), simulated
            ),
        )
    back = back_mist(sent)
    report(
        session.output,
        sent,
        _cancelled(schedule, back),
        {"schedule": schedule, "returned_mist": back},
    )
    is_deleted = any(event.type.name == "ScheduleDeleted" for event in sent.events)
    if not (is_deleted or session.dry_run):
        session.output.note(
            "an execution is still running. When it has ended, run the same command again to"
            " collect its leftover funds. To stop the execution, cancel it"
        )


def _cancelled(schedule: str, back_mist: int) -> str:
    return f"cancelled the schedule {schedule}: {units.sui(back_mist)} refunded"


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
        await change_schedule(session, nexus, place, verb, done, facts=facts)


async def change_schedule(
    session: Session,
    nexus: "Nexus",
    schedule: "Address",
    verb: "Verb",
    done: str,
    *,
    facts: dict[str, Any] | None = None,
) -> None:
    """Confirm and run an action on a schedule, and report it as `done`."""
    done = f"{done} the schedule {schedule}"
    sent = await confirm_and_execute(
        session,
        nexus.schedules,
        lambda service: verb(service, schedule),
        question=lambda simulated: confirmation_prompt(done, simulated),
    )
    report(session.output, sent, done, {"schedule": str(schedule)} | (facts or {}))
