"""`nexus-tools doctor`: what is missing or broken, each with the command that mends it."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Output, Session, as_typed, plain, reads
from nexus_tools.errors import NexusError

if TYPE_CHECKING:
    from nexus_tools.cli.doctor.finding import Finding

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@click.command()
@reads
async def command(session: Session) -> None:
    """Find out what is missing or broken, and how to mend it.

    A line with ✓ is as it should be; with ! something may be missed or go wrong later; with ✗
    commands fail by it, and the exit code is 1. Nothing is changed, and it takes ten seconds at
    most.

    With --json: `healthy` and `findings`, each with `name`, `status` (`ok`, `warning` or
    `problem`), `message` and `remedy`.
    """
    from nexus_tools.cli.doctor.machine import examine_machine
    from nexus_tools.cli.doctor.network import examine_network

    with session.output.progress("looking around"):
        found = [*examine_machine(session), *await examine_network(session)]
    findings = [replace(finding, remedy=as_typed(finding.remedy)) for finding in found]
    problems = [finding for finding in findings if finding.status == "problem"]
    if session.output.as_json:
        rows = [finding.as_json() for finding in findings]
        session.output.document({"healthy": not problems, "findings": rows})
    else:
        _print(session.output, findings)
    if problems:
        names = ", ".join(dict.fromkeys(finding.name for finding in problems))
        said = (
            "the remedy of each problem says" if session.output.as_json else "the lines with ✗ say"
        )
        raise NexusError("unhealthy", f"something is wrong: {names}", hint=f"{said} what to do")


def _print(output: Output, findings: "list[Finding]") -> None:
    for finding in findings:
        mark, color = _MARKS[finding.status]
        if finding.status == "ok" and output.quiet:
            continue
        click.secho(f"{mark} {finding.name:<14} {plain(finding.message)}", fg=color)
        if finding.remedy:
            click.echo(f"  {'':<14} {plain(finding.remedy)}")
