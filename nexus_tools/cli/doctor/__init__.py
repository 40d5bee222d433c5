"""The command `nexus-tools doctor`, which diagnoses problems and suggests remedies.

`machine` checks this machine, and `network` checks the network. Both modules return
`finding.Finding`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Output, Session, network_command, plain, with_current_options
from nexus_tools.errors import NexusError

if TYPE_CHECKING:
    from nexus_tools.cli.doctor.finding import Finding

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@click.command()
@network_command
async def command(session: Session) -> None:
    """Diagnose problems with the installation and the network.

    Each check prints a line: ✓ means OK, ! is a warning, and ✗ is a problem that makes commands
    fail. If there is a problem, the exit code is 1. The command changes nothing and takes at most
    ten seconds.

    With --json, the fields are `healthy` and `findings`. Each finding has `name`, `status` (`ok`,
    `warning` or `problem`), `message` and `remedy`.
    """
    from nexus_tools.cli.doctor.machine import check_machine
    from nexus_tools.cli.doctor.network import check_network

    with session.output.progress("running checks"):
        found = [*check_machine(session), *await check_network(session)]
    findings = [replace(finding, remedy=with_current_options(finding.remedy)) for finding in found]
    problems = [finding for finding in findings if finding.status == "problem"]
    if session.output.as_json:
        rows = [finding.as_json() for finding in findings]
        session.output.document({"healthy": not problems, "findings": rows})
    else:
        _print(session.output, findings)
    if problems:
        names = ", ".join(dict.fromkeys(finding.name for finding in problems))
        said = "the remedy of each problem" if session.output.as_json else "the lines with ✗"
        raise NexusError("unhealthy", f"checks failed: {names}", hint=f"Follow {said}.")


def _print(output: Output, findings: "list[Finding]") -> None:
    for finding in findings:
        mark, color = _MARKS[finding.status]
        if finding.status == "ok" and output.quiet:
            continue
        click.secho(f"{mark} {finding.name:<14} {plain(finding.message)}", fg=color)
        if finding.remedy:
            click.echo(f"  {'':<14} {plain(finding.remedy)}")
