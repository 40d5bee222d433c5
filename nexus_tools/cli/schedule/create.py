"""The command `nexus-tools schedule create`: times or events, inputs, and funds."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    Session,
    confirm_and_execute,
    find_leaders,
    leaders_option,
    report,
    transaction_command,
)
from nexus_tools.cli.schedule.timing import When, timing_options
from nexus_tools.cli.shared.execution_warnings import warn_before_execution
from nexus_tools.cli.shared.input_addresses import resolve_workflow_addresses
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
@timing_options
@click.option("--funds", type=AMOUNT, help="Funds of the schedule, in SUI.  [required]")
@click.option(
    "--funds-per-execution",
    type=AMOUNT,
    help="Funds for each execution, in SUI. Default: the estimated cost.",
)
@click.option(
    "--keeper-fee", type=AMOUNT, help="Fee for the account that starts an execution, in SUI."
)
@click.option("--group", help="Entry group to start with, if the workflow has several.")
@click.option(
    "--deadline",
    type=DURATION,
    default="1h",
    show_default=True,
    help="Maximum duration of an execution.",
)
@click.option(
    "--max-steps", type=click.IntRange(min=1), help="Maximum number of runs in an execution."
)
@click.option(
    "--allow-overlap", is_flag=True, help="Start an execution even if another execution is running."
)
@click.option(
    "--max-failures", type=click.IntRange(min=0), help="Pause after this many consecutive failures."
)
@click.option("--max-executions", type=click.IntRange(min=1), help="Maximum number of executions.")
@leaders_option("Leader of the executions")
@transaction_command
async def command(
    session: Session,
    *,
    fqn: str,
    inputs: tuple[str, ...],
    when: When,
    funds: int | None,
    funds_per_execution: int | None,
    keeper_fee: int | None,
    group: str | None,
    deadline: int,
    max_steps: int | None,
    allow_overlap: bool,
    max_failures: int | None,
    max_executions: int | None,
    leader_names: tuple[str, ...],
) -> None:
    """Schedule executions of the workflow FQN, paid from funds that you deposit now.

    Pass one of --every, --cron, --at and --on-event. A leader, or any other account, starts a due
    execution. The schedule reimburses this account (the keeper) for its cost, and pays it the
    keeper fee. Unspent funds of an execution are refunded. Planned times that pass while an
    execution runs are skipped. After several missed times, only one execution starts. With
    --max-delay, times that are too late are skipped.

    With --json, the fields are `schedule`, `workflow`, `when`, `next_at_ms`, `funds_mist`,
    `funds_per_execution_mist` and `leaders`.
    """
    values = read_inputs(inputs)
    given = _said(
        allow_overlap=allow_overlap,
        group=group,
        funds_per_execution_mist=funds_per_execution,
        keeper_fee_mist=keeper_fee,
        duration_ms=deadline,
        max_steps=max_steps,
        max_failures=max_failures,
        max_executions=max_executions,
    )
    if when.count:
        when.check()  # report invalid options before reading from the network
    async with session.nexus() as nexus:
        workflow = await nexus.workflows.get(fqn)
        funds_mist = _require(funds, when, _missing_inputs(workflow.document, values, group))
        timing = when.timing(await nexus.client.now_ms())
        values = await resolve_workflow_addresses(session, nexus, workflow, values)
        leaders = await find_leaders(nexus.leaders, leader_names)
        warn_before_execution(session, workflow, values, group, deadline)
        given |= {"funds_mist": funds_mist, "leaders": leaders}
        created = await confirm_and_execute(
            session,
            nexus.schedules,
            lambda service: service.create(workflow, values, timing, **given),
            question=lambda done: _asked(fqn, done, given),
        )
    _report(session, fqn, timing, funds_mist, created)


def _asked(fqn: str, done: "CreatedSchedule", given: dict[str, Any]) -> str:
    """Return the confirmation prompt, and store its terms in `given` for the transaction.

    The terms must not change after the prompt, but a tool's price may rise.
    """
    given.update(_terms_of(done))
    return _question(fqn, done.funds_per_execution_mist, given["funds_mist"])


def _missing_inputs(document: "Document", values: dict[str, Any], group: str | None) -> list[str]:
    """Return the missing inputs of the named entry group, or of the only entry group."""
    from nexus_tools.workflow import entry_values

    groups = [item for item in document.groups() if group in (None, item.name)]
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

    The error names all missing options.
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
    names = ", ".join(option for options in missing.values() for option in options)
    raise UsageError(code, "required options are missing", hint=f"Pass {names}.")


def _said(**options: Any) -> dict[str, Any]:
    """Return the options that are set."""
    return {name: value for name, value in options.items() if value is not None}


def _terms_of(done: "CreatedSchedule") -> dict[str, Any]:
    """Return the simulated terms, so that the transaction has the same terms."""
    names = ("leaders", "funds_per_execution_mist", "max_prices_mist", "max_outcome_bytes")
    return {name: getattr(done, name) for name in names}


def _question(fqn: str, funds_per_execution_mist: int, funds_mist: int) -> str:
    per_execution, funds = units.sui(funds_per_execution_mist), units.sui(funds_mist)
    return f"Schedule {fqn} with funds of {funds}, and {per_execution} for each execution?"


def _report(
    session: Session, fqn: str, timing: "Timing", funds_mist: int, created: "CreatedSchedule"
) -> None:
    from nexus_tools.registry import describe_timing

    facts = {
        "schedule": str(created.schedule),
        "workflow": fqn,
        "when": describe_timing(timing),
        "next_at_ms": created.next_at_ms,
        "funds_mist": funds_mist,
        "funds_per_execution_mist": created.funds_per_execution_mist,
        "leaders": list(map(str, created.leaders)),
    }
    output = session.output
    done = f"scheduled {fqn} as {created.schedule}"
    report(output, created.sent, done, facts, result=str(created.schedule))
    if not session.dry_run:
        output.note(f"next: `nexus-tools schedule show {created.schedule}` lists its executions")
