"""`nexus-tools schedule create`: what is executed when, and from which funds."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    Output,
    Session,
    carry_out,
    report,
    writes,
)
from nexus_tools.cli.leader_names import NAMED, find_leaders
from nexus_tools.cli.workflow_inputs import INPUTS, read_inputs
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.package.move.workflows.timing import Timing
    from nexus_tools.registry import CreatedSchedule


@click.command()
@click.argument("fqn")
@INPUTS
@click.option("--every", type=DURATION, help="Again and again, as in 1h; 60s at least.")
@click.option(
    "--at", "times", multiple=True, metavar="TIME", help="At a time, ISO 8601; may be repeated."
)
@click.option(
    "--on-event", metavar="TYPE", help="Whenever PACKAGE::MODULE::NAME was told, say leaders."
)
@click.option("--first", metavar="TIME", help="When --every begins; in one interval by default.")
@click.option("--until", metavar="TIME", help="The last time of --every.")
@click.option("--max-late", type=DURATION, help="Miss what could not begin so long after its time.")
@click.option("--pause-after-event", type=DURATION, default=0, help="Pass over events so long.")
@click.option("--funds", type=AMOUNT, required=True, help="What the schedule gets, in SUI.")
@click.option("--each", type=AMOUNT, help="What each execution gets; as much as is enough.")
@click.option("--keeper-fee", type=AMOUNT, help="What a keeper earns with each execution.")
@click.option("--group", help="The entry group, if the workflow has several.")
@click.option("--lasts", type=DURATION, help="How long an execution lasts at most; 1h by default.")
@click.option("--max-steps", type=click.IntRange(min=1), help="How many runs it requests at most.")
@click.option("--overlap", is_flag=True, help="Begin while another execution runs, too.")
@click.option("--max-failures", type=click.IntRange(min=0), help="Pause after so many in a row.")
@click.option("--times", "count", type=click.IntRange(min=1), help="Execute so often at most.")
@NAMED
@writes
async def command(
    session: Session,
    *,
    fqn: str,
    inputs: tuple[str, ...],
    every: int | None,
    times: tuple[str, ...],
    on_event: str | None,
    first: str | None,
    until: str | None,
    max_late: int | None,
    pause_after_event: int,
    funds: int,
    each: int | None,
    keeper_fee: int | None,
    group: str | None,
    lasts: int | None,
    max_steps: int | None,
    overlap: bool,
    max_failures: int | None,
    count: int | None,
    named: tuple[str, ...],
) -> None:
    """Have the workflow FQN executed again and again, from funds that you give now.

    Give one of --every, --at and --on-event. Leaders begin what is due and carry it; a keeper that
    begins an execution gets what that costs, and its fee. What an execution does not spend flows
    back. Planned times that pass while one runs are skipped; several that have passed are made up
    for once, or with --max-late not at all.

    With --json: `schedule`, `fqn`, `next_at_ms`, `funds_mist`, `each_mist` and `leaders`.
    """
    values = read_inputs(inputs)
    given = _said(
        funds_mist=funds,
        overlaps=overlap,
        group=group,
        each_mist=each,
        keeper_fee_mist=keeper_fee,
        lasts_ms=lasts,
        max_steps=max_steps,
        max_failures=max_failures,
        max_executions=count,
    )
    timing_of = partial(_timing, every, times, on_event, first, until, max_late, pause_after_event)
    timing_of(0)  # what is wrong is said before anything is asked
    async with session.nexus() as nexus:
        timing = timing_of(await nexus.client.now_ms())
        workflow = await nexus.workflows.get(fqn)
        leaders = await find_leaders(nexus.leaders, named)
        created = await carry_out(
            session,
            nexus.schedules,
            lambda service: service.create(workflow, values, timing, leaders=leaders, **given),
            question=lambda done: _question(fqn, done.each_mist, funds),
        )
    _report(session.output, fqn, funds, created)


def _said(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _question(fqn: str, each_mist: int, funds_mist: int) -> str:
    each, funds = units.sui(each_mist), units.sui(funds_mist)
    return f"Have {fqn} executed, each time with {each}, from {funds}?"


def _report(output: Output, fqn: str, funds_mist: int, created: "CreatedSchedule") -> None:
    facts = {
        "schedule": str(created.schedule),
        "fqn": fqn,
        "next_at_ms": created.next_at_ms,
        "funds_mist": funds_mist,
        "each_mist": created.each_mist,
        "leaders": list(map(str, created.leaders)),
    }
    report(output, created.sent, f"scheduled {fqn} as {created.schedule}", facts)
    output.note(f"`nexus-tools schedule show {created.schedule}` shows what it begins")


def _timing(  # noqa: PLR0917 - an option each
    every_ms: int | None,
    times: Sequence[str],
    on_event: str | None,
    first: str | None,
    until: str | None,
    max_late_ms: int | None,
    pause_ms: int,
    now_ms: int,
) -> "Timing":
    from nexus_tools.package.move.workflows.timing import Plan, Timing

    if sum((every_ms is not None, bool(times), on_event is not None)) != 1:
        raise UsageError("timing_missing", "give one of --every, --at and --on-event")
    if every_ms is None and (first or until):
        raise UsageError("timing_missing", "--first and --until go with --every")
    if every_ms is not None:
        first_at_ms = _time_ms(first) if first else now_ms + every_ms
        until_ms = _time_ms(until) if until else None
        return Timing(Plan.Every(every_ms, first_at_ms, until_ms), max_late_ms)
    if on_event is not None:
        return Timing(Plan.OnEvent(on_event, pause_ms), None)
    return Timing(Plan.At(tuple(sorted({_time_ms(each) for each in times}))), max_late_ms)


def _time_ms(text: str) -> int:
    """The ms since 1970 of a time; without an offset it is UTC. Raises `time_invalid`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            "time_invalid",
            f"{text[:80]!r} is no time",
            hint="write 2026-11-28T09:00Z, or with another offset: 2026-11-28T10:00+01:00",
        ) from None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1000)
