"""The command group `nexus-tools leader jobs`: the open invocations in a Leader's journal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, offline_command
from nexus_tools.cli.leader.journal_location import JOURNAL, find_journal
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.leader import Job, JournalInspection, Process

_COLUMNS = {
    "invocation": "Invocation",
    "tool": "Tool",
    "stage": "Stage",
    "claims": "Claims",
    "opens": "Opens",
    "expires": "Expires",
    "reason": "State",
}
_PROCESS_COLUMNS = {
    "process": "Process",
    "version": "Version",
    "started": "Started",
    "seen": "Last beat",
    "claimed": "Invocations",
    "ready": "Ready",
    "holder": "Holder",
}
_REASONS = {
    "claimed": "claimed by {process}",
    "orphaned": "claimed by {process}, which does not respond",
    "poisonous": "{claims} claims failed, so no process claims it",
    "expired": "expired",
    "waiting": "waits for its window",
    "holder_only": "waits for the holder",
    "free": "waits for a process",
}
_YES = click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")


@click.group()
def command() -> None:
    """Inspect the open invocations in a Leader's journal.

    You can inspect a journal while Leaders run. To change an SQLite file, stop its Leader first.
    """


@command.command("list")
@JOURNAL
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Maximum number of invocations to list.",
)
@click.option(
    "--stuck",
    is_flag=True,
    help="List only invocations that no process works on any more, or that are overdue.",
)
@offline_command
def list_jobs(session: Session, journal: Path | str | None, limit: int, stuck: bool) -> None:
    """List open invocations, and why each of them is not closed yet.

    The invocations whose window opened first are at the beginning. An invocation is overdue if it
    is still open after the leader's window.
    """
    now_ms = _now_ms()
    with _opened(session, journal, read_only=True) as inspection:
        jobs = inspection.jobs(limit + 1, now_ms, stuck=stuck)
    rows = [_job_row(job, now_ms) for job in jobs[:limit]]
    if not session.output.as_json:
        rows = [_job_for_people(row, now_ms) for row in rows]
    kind = "stuck" if stuck else "open"
    session.output.table(rows, _COLUMNS, empty=f"the journal does not contain {kind} invocations")
    if len(jobs) > limit:
        session.output.note(f"showing only the first {limit}. Use --limit to list more invocations")


@command.command()
@JOURNAL
@offline_command
def processes(session: Session, journal: Path | str | None) -> None:
    """List the Leader processes that share a journal in PostgreSQL."""
    with _opened(session, journal, read_only=True) as inspection:
        found = inspection.processes()
    rows = [_process_row(process) for process in found]
    if not session.output.as_json:
        rows = [_process_for_people(process, row) for process, row in zip(found, rows, strict=True)]
    session.output.table(rows, _PROCESS_COLUMNS, empty="no process shares the journal")


@command.command("return")
@click.argument("invocation")
@JOURNAL
@_YES
@offline_command
def give_back(session: Session, invocation: str, journal: Path | str | None, yes: bool) -> None:
    """Let processes claim an invocation again.

    The command resets the number of failed claims. If a process works on the invocation now,
    another process may call the tool a second time, with the same idempotency key. The command then
    asks you to confirm.
    """
    with _opened(session, journal) as inspection:
        job = inspection.job(_address(invocation))
        if job.process is not None and not job.is_silent:
            session.output.confirm(
                f"The process {job.process} works on {job.invocation}. Another process may call the"
                " tool again. Continue?",
                yes=yes,
            )
        inspection.give_back(job)
    _report(session, job, "returned", f"the invocation {job.invocation} can be claimed again")


@command.command()
@click.argument("invocation")
@JOURNAL
@_YES
@offline_command
def skip(session: Session, invocation: str, journal: Path | str | None, yes: bool) -> None:
    """Do not process an invocation any more. This cannot be undone.

    The leader earns no fee. A backup leader may close the invocation in its own window. Otherwise,
    the requester gets a refund when the invocation expires, and counts it as missed by your leader.
    A tool that was called is not paid, and a priced tool may refuse later calls of your leader.
    """
    now_ms = _now_ms()
    with _opened(session, journal) as inspection:
        job = inspection.job(_address(invocation))
        session.output.confirm(
            f"This leader will not close {job.invocation} of {job.fqn}, and earns no fee for it."
            f"{_ANSWER_LOST if job.stage.value in ('called', 'known') else ''} Continue?",
            yes=yes,
        )
        inspection.skip(job, now_ms)
    _report(session, job, "skipped", f"this leader does not process {job.invocation} any more")


_ANSWER_LOST = " The tool may have answered and is not paid."


@contextmanager
def _opened(
    session: Session, journal: Path | str | None, *, read_only: bool = False
) -> "Iterator[JournalInspection]":
    from nexus_tools.leader import inspect_journal

    with inspect_journal(find_journal(session, journal), read_only=read_only) as inspection:
        yield inspection


def _address(text: str) -> Any:
    from nexus_tools.sui.types.address import Address

    return Address.parse(text)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _report(session: Session, job: "Job", state: str, text: str) -> None:
    if session.output.as_json:
        document = {"invocation": str(job.invocation), "tool": job.fqn, "state": state}
        session.output.document(document)
    else:
        session.output.done(text)


def _job_row(job: "Job", now_ms: int) -> dict[str, Any]:
    return {
        "invocation": str(job.invocation),
        "tool": job.fqn,
        "place": job.place,
        "stage": job.stage.value,
        "claims": job.claims,
        "opens_at_ms": job.opens_at_ms,
        "window_ends_at_ms": job.window_ends_at_ms,
        "expires_at_ms": job.expires_at_ms,
        "holder_only": job.is_holder_only,
        "process": job.process,
        "state": job.state_at(now_ms).value,
    }


def _job_for_people(row: dict[str, Any], now_ms: int) -> dict[str, Any]:
    return row | {
        "opens": _relative(row["opens_at_ms"], now_ms),
        "expires": _relative(row["expires_at_ms"], now_ms),
        "reason": _REASONS[row["state"]].format(**row),
    }


def _process_row(process: "Process") -> dict[str, Any]:
    return {
        "process": process.name,
        "version": process.version,
        "workers": [str(worker) for worker in process.workers],
        "started_at_ms": process.started_at_ms,
        "seen_at_ms": process.seen_at_ms,
        "claimed": process.claimed,
        "ready": process.is_ready,
        "holder": process.is_holder,
    }


def _process_for_people(process: "Process", row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        "started": units.utc(process.started_at_ms),
        "seen": units.ago(process.silence_ms),
        "ready": "yes" if process.is_ready else "no",
        "holder": "yes" if process.is_holder else "no",
    }


def _relative(time_ms: int, now_ms: int) -> str:
    if time_ms <= now_ms:
        return units.ago(now_ms - time_ms)
    return f"in {units.duration((time_ms - now_ms + 999) // 1_000 * 1_000)}"
