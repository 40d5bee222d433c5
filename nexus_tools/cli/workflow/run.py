"""`nexus-tools workflow run`: an execution of a published workflow."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    NAMED,
    Session,
    carry_out,
    complete_fqns,
    find_leaders,
    report,
    sent_record,
    terminable,
    writes,
)
from nexus_tools.cli.shared.execution_warnings import forewarn
from nexus_tools.cli.shared.input_addresses import with_workflow_addresses
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
    from nexus_tools.registry import BegunExecution, PublishedWorkflow


@click.command()
@click.argument("workflow", metavar="FQN|ID", shell_complete=complete_fqns)
@INPUTS
@click.option("--group", help="Begin with this entry group.")
@click.option("--funds", type=AMOUNT, help="Give it so many SUI; by default what should do.")
@NAMED
@click.option(
    "--max-price",
    "max_prices",
    metavar="FQN|VERTEX=SUI",
    multiple=True,
    help="What a tool may cost; by default what it costs now.",
)
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    help="How large an outcome may be; what it does not use comes back. By default 4096, or what"
    " the tools ask for.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="End it after so many runs.",
)
@click.option(
    "--lasts", type=DURATION, default="1d", show_default=True, help="How long it may last."
)
@click.option("--wait", is_flag=True, help="Wait for its end, and print what it came to.")
@writes
async def command(
    session: Session,
    *,
    workflow: str,
    inputs: tuple[str, ...],
    group: str | None,
    funds: int | None,
    named: tuple[str, ...],
    max_prices: tuple[str, ...],
    max_outcome_bytes: int | None,
    max_steps: int,
    lasts: int,
    wait: bool,
) -> None:
    """Begin an execution of the workflow FQN, or of that with an id, on chain.

    Its funds pay for each run what the tool costs and what a leader gets; what is left comes back
    at the end. It names one leader or two, in this order: the first of those given with --leader,
    or in the setting `leaders`; else some by what they did. With --wait the exit code is 1 if it
    ends before it is done.
    """
    given, priced = read_inputs(inputs), read_prices("--max-price", max_prices)
    async with session.nexus() as nexus:
        with session.output.progress(f"reading {workflow}"):
            found = await find_workflow(nexus, workflow)
            given = await with_workflow_addresses(session, nexus, found, given)
            own = await find_leaders(nexus.leaders, named) if named else session.settings.leaders
            leaders = await nexus.executions.leaders_for(found, own)
        terms: dict[str, Any] = {
            "group": group,
            "funds_mist": funds,
            "leaders": leaders,
            "max_prices_mist": by_tool("--max-price", found.document, priced),
            "max_outcome_bytes": max_outcome_bytes,
            "max_steps": max_steps,
            "lasts_ms": lasts,
        }
        forewarn(session, found, given, group, lasts)

        def question(begun: "BegunExecution") -> str:
            """Return the question, and send what it shows: a tool's owner may raise its price."""
            terms["funds_mist"] = begun.funds_mist
            terms["max_prices_mist"] = begun.max_prices_mist
            terms["max_outcome_bytes"] = begun.max_outcome_bytes
            return _question(found, begun)

        try:
            with terminable():
                begun = await carry_out(
                    session,
                    nexus.executions,
                    lambda service: service.begin(found, given, **terms),
                    question=question,
                )
                await _tell(session, nexus, found, begun, wait=wait)
        except (UsageError, ValidationError) as error:
            raise explained(error, given) from error


async def find_workflow(nexus: "Nexus", text: str) -> "PublishedWorkflow":
    """The workflow with an FQN or an id. Raises `workflow_unknown`."""
    from nexus_tools.sui.types.address import Address

    if text.startswith("0x"):
        return await nexus.workflows.by_id(Address.parse_whole(text))
    return await nexus.workflows.get(text)


def _question(workflow: "PublishedWorkflow", begun: "BegunExecution") -> str:
    by = ", or else ".join(map(str, begun.leaders))
    return (
        f"Begin an execution of {workflow.fqn} with {units.sui(begun.funds_mist)} of funds,"
        f" carried by the leader {by}?"
    )


async def _tell(
    session: Session,
    nexus: "Nexus",
    workflow: "PublishedWorkflow",
    begun: "BegunExecution",
    *,
    wait: bool,
) -> None:
    output = session.output
    facts = {
        "execution": str(begun.execution),
        "workflow": str(workflow.fqn),
        "funds_mist": begun.funds_mist,
        "leaders": list(map(str, begun.leaders)),
    }
    done = f"began {begun.execution} with {units.sui(begun.funds_mist)} of funds"
    if session.dry_run or not wait:
        report(output, begun.sent, done, facts, result=str(begun.execution))
        if not (session.dry_run or output.as_json):
            output.note(f"next: nexus-tools workflow watch {begun.execution}")
        return
    output.note(done)
    state = await finished(session, nexus, begun.execution)
    if output.as_json:
        spent_mist = await nexus.executions.spent_mist(state)
        document = state_document(state, (), spent_mist)
        output.document(document | {"transaction": sent_record(begun.sent)})
    else:
        print_outcome(output, state, ends=True)
    require_success(state)
    print_end(session, state)
