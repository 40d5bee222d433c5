"""The output of an execution: its progress, failures, waits and results."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Output, Session, plain, print_drawing
from nexus_tools.cli.workflow.waits import report_waits, wait_messages, waits_document
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import ExecutionState, RunState, Wait
    from nexus_tools.sui.types.address import Address

_LABELS = {
    "execution": "execution",
    "workflow": "workflow",
    "status": "status",
    "owner": "owner",
    "leaders": "leaders",
    "funds": "funds",
    "spent": "spent",
    "steps": "steps",
    "deadline": "deadline",
    "ended": "ended",
}


async def show_execution(session: Session, nexus: "Nexus", execution: "Address") -> None:
    """Print an execution by its ID: facts, a diagram, failures and results."""
    with session.output.progress("reading the execution"):
        state = await nexus.executions.state(execution)
        waits = await nexus.executions.wait_reasons(state)
        spent_mist = await nexus.executions.spent_mist(state)
    if session.output.as_json:
        session.output.document(state_document(state, waits, spent_mist))
    else:
        session.output.record(_facts(state, spent_mist), _LABELS)
        print_drawing(lambda width: picture(state, width))
        print_outcome(session.output, state)
        print_waits(session.output, waits)
        print_next(session, state)
    state.require_valid()


def picture(state: "ExecutionState", width: int) -> Any:
    """Return a diagram of the workflow with the states of its vertices, and a legend."""
    from rich.console import Group
    from rich.text import Text

    from nexus_tools.workflow import Phase, draw_terminal

    states = state.vertex_states()
    phases = {phase for vertex_state in states.values() for phase, _ in vertex_state.counts()}
    signs = "  ".join(f"{item.symbol} {item.value}" for item in Phase if item in phases)
    drawn = draw_terminal(state.workflow.document, width, states)
    return Group(drawn, Text(f"runs: {signs}", style="dim")) if signs else drawn


def print_outcome(output: Output, state: "ExecutionState", *, ends: bool = False) -> None:
    """Print results, a warning for each failure, and steps that did not start.

    If `ends` is set, skip the terminating failure, because the command then raises it as an error.
    """
    results = {plain(result.label): _in_json(result.value) for result in state.results}
    if results:
        output.record(results, {label: label for label in results}, title="Results")
    for failure in state.failures:
        if not (ends and failure is state.terminating_failure):
            output.warn(plain(failure.message))
            if failure.hint:
                output.note(f"  {failure.hint}")
    for blocked in state.waiting if state.is_ended else ():
        output.note(plain(blocked.message))


def print_waits(output: Output, waits: "Sequence[Wait]") -> None:
    """Print what a running execution waits for."""
    for sentence in wait_messages(waits):
        output.note(f"▸ {sentence}")


def print_next(session: Session, state: "ExecutionState") -> None:
    """Print the next command for the wallet that owns the execution."""
    place, output = state.execution.id, session.output
    if state.is_ended:
        clean = f"nexus-tools workflow clean {place}{session.network_option(state.execution.owner)}"
        output.note(f"next: `{clean}` deletes the execution and reclaims its storage deposit")
    else:
        output.note(f"next: nexus-tools workflow watch {place}")


def print_end(session: Session, state: "ExecutionState") -> None:
    """Print how the execution ended, and the next command."""
    output = session.output
    steps = units.count(state.execution.steps, "step")
    output.done(f"{state.status.replace('_', ' ')} after {steps}")
    if not output.as_json:
        print_next(session, state)


def require_success(state: "ExecutionState") -> None:
    """Raise `output_invalid` for invalid results, or `workflow_failed` after an early end."""
    state.require_valid()
    if state.early_end_reason:
        far = f"Run `nexus-tools workflow show {state.execution.id}` to see its progress."
        better = state.terminating_failure.hint if state.terminating_failure else ""
        raise NexusError(
            "workflow_failed",
            plain(state.early_end_reason),
            hint=f"{better} {far}".strip(),
            details={"execution": str(state.execution.id), "status": state.status.value},
        )


async def finished(session: Session, nexus: "Nexus", execution: "Address") -> "ExecutionState":
    """Wait until the execution ends. If interrupted, report that it continues."""
    from asyncio import CancelledError

    from nexus_tools.errors import UnreachableError

    try:
        notify = (lambda _: None) if session.output.as_json else _teller(session.output)
        with session.output.progress("waiting for the execution to end"):
            async with report_waits(nexus, execution, notify, lambda _: None):
                return await nexus.executions.wait(execution)
    except (CancelledError, UnreachableError):
        session.output.warn(
            f"the execution {execution} continues. Run"
            f" `nexus-tools workflow watch {execution}` to follow it, or"
            f" `nexus-tools workflow cancel {execution}` to cancel it"
        )
        raise


def state_document(
    state: "ExecutionState", waits: "Sequence[Wait]" = (), spent_mist: int | None = None
) -> dict[str, Any]:
    """Return the state as JSON. `spent_mist` is the cost, which is known after the end."""
    execution, terms = state.execution, state.terms
    return {
        "execution": str(execution.id),
        "workflow": str(state.workflow.fqn),
        "status": state.status.value,
        "owner": str(execution.owner),
        "leaders": [str(leader) for leader in terms.leaders],
        "funds_mist": execution.funds,
        "spent_mist": spent_mist,
        "steps": execution.steps,
        "deadline_ms": terms.deadline_ms,
        "ended_at_ms": execution.ended_at_ms,
        "outputs": state.outputs(checked=False),
        "invalid": [violation.as_json() for violation in state.invalid],
        "results": [
            {
                "name": result.name or None,
                **result.source.as_json(),
                "path": list(result.run.path),
                "value": result.value,
            }
            for result in state.results
        ],
        "failures": [
            {
                "vertex": failure.run.vertex,
                "path": list(failure.run.path),
                "reason": failure.reason,
                "detail": failure.detail,
                "tool": failure.fqn,
                "invocation": None if failure.invocation is None else str(failure.invocation),
            }
            for failure in state.failures
        ],
        "waiting": [
            {
                "vertex": blocked.run.vertex,
                "path": list(blocked.run.path),
                "missing": list(blocked.missing),
            }
            for blocked in state.waiting
        ],
        "waits_for": waits_document(waits),
        "runs": [_run_document(run) for run in state.runs.values()],
    }


def _run_document(run: "RunState") -> dict[str, Any]:
    from nexus_tools.workflow import RunSettled

    settled = run.outcome if isinstance(run.outcome, RunSettled) else None
    reason = None if settled or run.outcome is None else getattr(run.outcome, "reason", None)
    return {
        "vertex": run.run.vertex,
        "path": list(run.run.path),
        "phase": run.phase.name.lower(),
        "attempt": run.attempt,
        "invocation": str(run.invocation.id) if run.invocation else None,
        "variant": settled.variant if settled else None,
        "reason": reason,
    }


def _facts(state: "ExecutionState", spent_mist: int | None) -> dict[str, Any]:
    execution, terms = state.execution, state.terms
    ended_ms = execution.ended_at_ms
    return {
        "execution": str(execution.id),
        "workflow": str(state.workflow.fqn),
        "status": state.status.replace("_", " "),
        "owner": str(execution.owner),
        "leaders": ", ".join(map(str, terms.leaders)),
        "funds": None if state.is_ended else units.sui(execution.funds),
        "spent": None if spent_mist is None else units.sui(spent_mist),
        "steps": execution.steps,
        "deadline": None if state.is_ended else units.utc(terms.deadline_ms),
        "ended": None if ended_ms is None else units.utc(ended_ms),
    }


def _teller(output: Output) -> "Callable[[Sequence[Wait]], None]":
    return lambda waits: print_waits(output, waits)


def _in_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
