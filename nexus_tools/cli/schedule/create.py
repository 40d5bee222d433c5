"""`nexus-tools schedule create`: what is executed when, and from which funds."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    NAMED,
    Session,
    carry_out,
    find_leaders,
    report,
    writes,
)
from nexus_tools.cli.schedule.formatting import in_words
from nexus_tools.cli.schedule.timing import When, timed
from nexus_tools.cli.shared.execution_warnings import forewarn
from nexus_tools.cli.shared.input_addresses import with_workflow_addresses
from nexus_tools.cli.shared.workflow_inputs import INPUTS, read_inputs
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.workflows.timing import Timing
    from nexus_tools.registry import CreatedSchedule
    from nexus_tools.workflow import Document


@click.command()
@click.argument("fqn")
@INPUTS
@timed
@click.option("--funds", type=AMOUNT, help="What the schedule gets, in SUI; it is required.")
@click.option("--each", type=AMOUNT, help="What each execution gets; as much as is enough.")
@click.option("--keeper-fee", type=AMOUNT, help="What a keeper earns with each execution.")
@click.option("--group", help="The entry group, if the workflow has several.")
@click.option(
    "--lasts",
    type=DURATION,
    default="1h",
    show_default=True,
    help="How long an execution lasts at most.",
)
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
    when: When,
    funds: int | None,
    each: int | None,
    keeper_fee: int | None,
    group: str | None,
    lasts: int,
    max_steps: int | None,
    overlap: bool,
    max_failures: int | None,
    count: int | None,
    named: tuple[str, ...],
) -> None:
    """Have the workflow FQN executed again and again, from funds that you give now.

    Give one of --every, --cron, --at and --on-event. Leaders begin what is due and carry it; a
    keeper that begins an execution gets what that costs, and its fee. What an execution does not
    spend flows back. Planned times that pass while one runs are skipped; several that have passed
    are made up for once, or with --max-late not at all.

    With --json: `schedule`, `workflow`, `when`, `next_at_ms`, `funds_mist`, `each_mist` and
    `leaders`.
    """
    values = read_inputs(inputs)
    given = _said(
        overlaps=overlap,
        group=group,
        each_mist=each,
        keeper_fee_mist=keeper_fee,
        lasts_ms=lasts,
        max_steps=max_steps,
        max_failures=max_failures,
        max_executions=count,
    )
    if when.count:
        when.check()  # what is wrong is said before anything is asked
    async with session.nexus() as nexus:
        workflow = await nexus.workflows.get(fqn)
        funds_mist = _require(funds, when, _missing_inputs(workflow.document, values, group))
        timing = when.timing(await nexus.client.now_ms())
        values = await with_workflow_addresses(session, nexus, workflow, values)
        leaders = await find_leaders(nexus.leaders, named)
        forewarn(session, workflow, values, group, lasts)
        given |= {"funds_mist": funds_mist, "leaders": leaders}
        created = await carry_out(
            session,
            nexus.schedules,
            lambda service: service.create(workflow, values, timing, **given),
            question=lambda done: _asked(fqn, done, given),
        )
    _report(session, fqn, timing, funds_mist, created)


def _asked(fqn: str, done: "CreatedSchedule", given: dict[str, Any]) -> str:
    """Return the question, and send what it shows: a tool's owner may raise its price."""
    given.update(_terms_of(done))
    return _question(fqn, done.each_mist, given["funds_mist"])


def _missing_inputs(document: "Document", values: dict[str, Any], group: str | None) -> list[str]:
    """The names of inputs that the only entry group, or the named one, lacks."""
    from nexus_tools.workflow import entry_values

    groups = [each for each in document.groups() if group in (None, each.name)]
    try:
        if len(groups) == 1:
            entry_values(document, groups[0], values)
    except UsageError as error:
        if error.code == "input_missing":
            return list(error.details["inputs"])
        raise
    return []


def _require(funds_mist: int | None, when: When, inputs: list[str]) -> int:
    """Return the funds. Raises `option_missing`, `timing_missing` or `input_missing`.

    The error names all options that are missing.
    """
    missing = {
        "option_missing": ["--funds SUI"] if funds_mist is None else [],
        "timing_missing": [] if when.count else ["one of --every, --cron, --at and --on-event"],
        "input_missing": [f"--input {name}=…" for name in inputs],
    }
    code = next((code for code, options in missing.items() if options), None)
    if code is None:
        assert funds_mist is not None
        return funds_mist
    named = ", ".join(option for options in missing.values() for option in options)
    raise UsageError(code, "the schedule lacks options", hint=f"give {named}")


def _said(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _terms_of(done: "CreatedSchedule") -> dict[str, Any]:
    """Return the terms that the rehearsal found, to be sent as they are."""
    names = ("leaders", "each_mist", "max_prices_mist", "max_outcome_bytes")
    return {name: getattr(done, name) for name in names}


def _question(fqn: str, each_mist: int, funds_mist: int) -> str:
    each, funds = units.sui(each_mist), units.sui(funds_mist)
    return f"Have {fqn} executed, each time with {each}, from {funds}?"


def _report(
    session: Session, fqn: str, timing: "Timing", funds_mist: int, created: "CreatedSchedule"
) -> None:
    facts = {
        "schedule": str(created.schedule),
        "workflow": fqn,
        "when": in_words(timing),
        "next_at_ms": created.next_at_ms,
        "funds_mist": funds_mist,
        "each_mist": created.each_mist,
        "leaders": list(map(str, created.leaders)),
    }
    output = session.output
    done = f"scheduled {fqn} as {created.schedule}"
    report(output, created.sent, done, facts, result=str(created.schedule))
    if not session.dry_run:
        output.note(f"`nexus-tools schedule show {created.schedule}` shows what it begins")
