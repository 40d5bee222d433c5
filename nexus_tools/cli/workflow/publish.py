"""The command `nexus-tools workflow publish`."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import (
    Session,
    complete_files,
    confirm_and_execute,
    report,
    transaction_command,
)
from nexus_tools.cli.tool.proof import CHECK_DOMAIN
from nexus_tools.cli.workflow.registered_tools import registered_tools
from nexus_tools.cli.workflow.workflow_file import read_workflow
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.cli.workflow.workflow_file import WorkflowFile
    from nexus_tools.registry import PublishResult


@click.command()
@click.argument("file", shell_complete=complete_files)
@click.option(
    "--name", metavar="FQN", help="FQN to publish under. Default: the FQN of a Python `Workflow`."
)
@click.option("--description", help="Description, up to 4096 bytes.")
@CHECK_DOMAIN
@transaction_command
async def command(
    session: Session,
    file: str,
    *,
    name: str | None,
    description: str | None,
    query_domain: bool | None,
) -> None:
    """Publish the workflow in FILE permanently. A publication cannot be changed or removed.

    FILE is a JSON document, a folder with a `workflow.json`, or a Python file with a `Workflow`.
    The command first validates the workflow, also against the registered tools. A large workflow
    takes several transactions. After an interruption, run the same command again to continue.
    """
    from nexus_tools.tool import ToolFqn
    from nexus_tools.workflow import lint_interfaces

    found = read_workflow(file)
    if found.document is not None and not found.errors:
        facts = await registered_tools(session, found.document, query_domain)
        found = found.with_violations(lint_interfaces(found.document, facts))
    found.print_violations(session.output, aside=True)
    if found.document is None or found.errors:
        raise found.invalid()
    document = found.document
    fqn = ToolFqn.parse(_name(found, name))
    text = found.description if description is None else description
    output = session.output

    def notify(done: int, total: int) -> None:
        if done < total:
            output.note(f"sent {done} of {total} transactions")

    async with session.nexus() as nexus:
        result = await confirm_and_execute(
            session,
            nexus.workflows,
            lambda service: service.publish(document, fqn, text, on_sent=notify),
            question=_question,
        )
    if not result.sent:
        output.done(f"{fqn} is already published with the same document")
    record = {"fqn": str(fqn), "workflow": str(result.workflow)}
    if result.sent:
        what = f"published {fqn}, {_counted(result.remaining + len(result.sent))}"
        report(output, result.sent, what, record, result=str(result.workflow))
    elif output.as_json:
        output.document(record | {"dry_run": False, "digest": None, "cost_mist": 0})
    elif output.quiet:
        output.result(str(result.workflow))
    if not (session.dry_run or output.as_json):
        output.note(f"next: nexus-tools workflow show {fqn}")


def _name(found: "WorkflowFile", name: str | None) -> str:
    if name or found.fqn:
        return name or found.fqn
    message = "the workflow has no FQN to publish under"
    raise UsageError("name_missing", message, hint="Pass --name, e.g. xyz.example.flow@1.")


def _question(simulated: "PublishResult") -> str:
    """Return the confirmation prompt, or an empty string if there is nothing to do."""
    if not simulated.sent:
        return ""
    cost = units.sui(simulated.cost_mist)
    if simulated.remaining:
        cost += f" for the first of {_counted(simulated.remaining + 1)}"
    return f"Publish {simulated.fqn} permanently for {cost}? The storage cost is not refundable."


def _counted(transactions: int) -> str:
    return "in one transaction" if transactions == 1 else f"in {transactions} transactions"
