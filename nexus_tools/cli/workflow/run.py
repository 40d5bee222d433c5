"""The command `nexus-tools workflow run`, which starts an execution."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    Session,
    complete_fqns,
    confirm_and_execute,
    find_leaders,
    leaders_option,
    report,
    terminable,
    transaction_command,
    transaction_document,
)
from nexus_tools.cli.shared.execution_warnings import warn_before_execution
from nexus_tools.cli.shared.input_addresses import resolve_workflow_addresses
from nexus_tools.cli.shared.leader_choice import choice_document, describe_evidence
from nexus_tools.cli.shared.workflow_inputs import INPUTS, explained, read_inputs
from nexus_tools.cli.workflow.execution_view import (
    finished,
    print_end,
    print_outcome,
    require_success,
    state_document,
)
from nexus_tools.cli.workflow.prices import by_tool, read_prices
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import LeaderChoice, PublishedWorkflow, StartedExecution


@click.command()
@click.argument("workflow", metavar="FQN|ID", shell_complete=complete_fqns)
@INPUTS
@click.option("--group", help="Entry group to start with.")
@click.option(
    "--funds", type=AMOUNT, help="Funds for the execution, in SUI. Default: the estimated cost."
)
@leaders_option("Leader of the execution")
@click.option(
    "--max-price",
    "max_prices",
    metavar="FQN|VERTEX=SUI",
    multiple=True,
    help="Maximum price of one tool, in SUI. Default: its current price. May be repeated.",
)
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    help="Maximum size of an outcome. Unused bytes are refunded. Default: 4096, or the tools'"
    " minimum.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Maximum number of runs.",
)
@click.option(
    "--deadline",
    type=DURATION,
    default="1d",
    show_default=True,
    help="Maximum duration of the execution.",
)
@click.option("--wait", is_flag=True, help="Wait for the end and print the results.")
@transaction_command
async def command(
    session: Session,
    *,
    workflow: str,
    inputs: tuple[str, ...],
    group: str | None,
    funds: int | None,
    leader_names: tuple[str, ...],
    max_prices: tuple[str, ...],
    max_outcome_bytes: int | None,
    max_steps: int,
    deadline: int,
    wait: bool,
) -> None:
    """Start an execution of the published workflow FQN or ID.

    The funds of the execution pay the tool's price and the leader's fee for each run. Unspent funds
    are refunded at the end. An execution names one or two leaders, in order of preference. The
    command takes the first active leaders from --leader, or else from the setting `leaders`. If
    both are missing, it chooses leaders by their track record. With --wait, the exit code is 1 if
    the execution ends before it completes.
    """
    given, priced = read_inputs(inputs), read_prices("--max-price", max_prices)
    async with session.nexus() as nexus:
        with session.output.progress(f"reading {workflow}"):
            found = await find_workflow(nexus, workflow)
            given = await resolve_workflow_addresses(session, nexus, found, given)
            named = await find_leaders(nexus.leaders, leader_names)
            own = named or session.settings.leaders
            choice = await nexus.executions.choose_leaders(found, own)
        terms: dict[str, Any] = {
            "group": group,
            "funds_mist": funds,
            "leaders": choice.leaders,
            "max_prices_mist": by_tool("--max-price", found.document, priced),
            "max_outcome_bytes": max_outcome_bytes,
            "max_steps": max_steps,
            "duration_ms": deadline,
        }
        warn_before_execution(session, found, given, group, deadline)

        def question(started: "StartedExecution") -> str:
            """Return the prompt, and store its terms, because a tool's price may rise later."""
            terms["funds_mist"] = started.funds_mist
            terms["max_prices_mist"] = started.max_prices_mist
            terms["max_outcome_bytes"] = started.max_outcome_bytes
            return _question(found, started, choice)

        try:
            with terminable():
                started = await confirm_and_execute(
                    session,
                    nexus.executions,
                    lambda service: service.start(found, given, **terms),
                    question=question,
                )
                await _tell(session, nexus, started, found, choice, wait=wait)
        except (UsageError, ValidationError) as error:
            raise explained(error, given) from error


async def find_workflow(nexus: "Nexus", text: str) -> "PublishedWorkflow":
    """Return the workflow with an FQN or an ID. Raises `workflow_unknown`."""
    from nexus_tools.sui.types.address import Address

    if text.startswith("0x"):
        return await nexus.workflows.by_id(Address.parse_whole(text))
    return await nexus.workflows.get(text)


def _question(
    workflow: "PublishedWorkflow", started: "StartedExecution", choice: "LeaderChoice"
) -> str:
    by = ", or else ".join(map(str, started.leaders))
    return (
        f"Start an execution of {workflow.fqn} with {units.sui(started.funds_mist)} of funds,"
        f" dispatched by the leader {by}{describe_evidence(choice)}?"
    )


async def _tell(
    session: Session,
    nexus: "Nexus",
    started: "StartedExecution",
    workflow: "PublishedWorkflow",
    choice: "LeaderChoice",
    *,
    wait: bool,
) -> None:
    output = session.output
    facts = {
        "execution": str(started.execution),
        "workflow": str(workflow.fqn),
        "funds_mist": started.funds_mist,
        **choice_document(choice),
    }
    done = f"started {started.execution} with {units.sui(started.funds_mist)} of funds"
    if session.dry_run or not wait:
        report(output, started.sent, done, facts, result=str(started.execution))
        if not (session.dry_run or output.as_json):
            output.note(f"next: nexus-tools workflow watch {started.execution}")
        return
    output.note(done)
    state = await finished(session, nexus, started.execution)
    if output.as_json:
        spent_mist = await nexus.executions.spent_mist(state)
        document = state_document(state, (), spent_mist)
        transaction = transaction_document(started.sent)
        output.document(document | {"transaction": transaction, "choice": facts["choice"]})
    else:
        print_outcome(output, state, ends=True)
    require_success(state)
    print_end(session, state)
