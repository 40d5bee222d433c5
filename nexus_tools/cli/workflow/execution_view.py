"""An execution as commands print it: how far it is, why walks failed, what it came to."""

import json
from typing import TYPE_CHECKING, Any

from nexus_tools import units
from nexus_tools.cli.framework import Output, Session, plain, print_drawn
from nexus_tools.errors import NexusError

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import ExecutionState, RunState
    from nexus_tools.sui.address import Address

_LABELS = {
    "execution": "execution",
    "workflow": "workflow",
    "status": "status",
    "owner": "owner",
    "leaders": "leaders",
    "funds": "funds",
    "steps": "steps",
    "deadline": "deadline",
    "ended": "ended",
}
_EARLY_ENDS = {
    "terminated": "was terminated",
    "cancelled": "was cancelled",
    "timed_out": "timed out",
}


async def show_execution(session: Session, execution: str) -> None:
    """Print an execution by its id: facts, a picture, failures, results."""
    from nexus_tools.sui.address import Address

    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the execution"):
            state = await nexus.executions.state(Address.parse(execution))
    if session.output.as_json:
        session.output.document(state_document(state))
        return
    session.output.record(_facts(state), _LABELS)
    print_drawn(lambda width: picture(state, width))
    print_outcome(session.output, state)
    print_next(session.output, state)


def picture(state: "ExecutionState", width: int) -> Any:
    """The workflow with what has come of its vertices."""
    from nexus_tools.workflow import draw_terminal

    return draw_terminal(state.workflow.document, width, state.vertex_states())


def print_outcome(output: Output, state: "ExecutionState") -> None:
    """Print results, and a warning for each failure and for what did not start."""
    results = {plain(each.label): _in_json(each.value) for each in state.results}
    if results:
        output.record(results, {label: label for label in results}, title="Results")
    for failure in state.failures:
        output.warn(plain(failure.sentence))
    for each in state.waiting if state.is_ended else ():
        output.warn(f"{each.run} did not start: nothing came for {', '.join(each.missing)}")


def print_next(output: Output, state: "ExecutionState") -> None:
    """Say what can be done next."""
    place = state.execution.id
    if state.is_ended:
        output.note(f"next: nexus-tools workflow clean {place} brings back what it stored")
    else:
        output.note(f"next: nexus-tools workflow watch {place}")


def print_end(output: Output, state: "ExecutionState") -> None:
    """Say how it ended, and what can be done next."""
    steps = units.count(state.execution.steps, "step")
    output.done(f"{state.status.replace('_', ' ')} after {steps}")
    if not output.as_json:
        print_next(output, state)


def require_success(state: "ExecutionState") -> None:
    """Raises `workflow_failed` if the execution ended before it was done."""
    end = _EARLY_ENDS.get(state.status)
    if end:
        why = f": {state.failures[0].sentence}" if state.failures else ""
        raise NexusError(
            "workflow_failed",
            f"the execution {state.execution.id} {end}{plain(why)}",
            hint=f"`nexus-tools workflow show {state.execution.id}` shows how far it came",
            details={"execution": str(state.execution.id), "status": state.status.value},
        )


async def finished(session: Session, nexus: "Nexus", execution: "Address") -> "ExecutionState":
    """The execution once it has ended; who is interrupted is told that it goes on."""
    from asyncio import CancelledError

    from nexus_tools.errors import UnreachableError

    try:
        with session.output.progress("waiting for its end"):
            return await nexus.executions.wait(execution)
    except (CancelledError, UnreachableError):
        session.output.warn(
            f"the execution {execution} goes on without you:"
            f" `nexus-tools workflow watch {execution}` follows it,"
            f" `nexus-tools workflow cancel {execution}` ends it"
        )
        raise


def state_document(state: "ExecutionState") -> dict[str, Any]:
    """All of it as JSON."""
    execution, terms = state.execution, state.terms
    return {
        "execution": str(execution.id),
        "workflow": str(state.workflow.fqn),
        "status": state.status.value,
        "owner": str(execution.owner),
        "leaders": [str(each) for each in terms.leaders],
        "funds_mist": execution.funds,
        "steps": execution.steps,
        "deadline_ms": terms.deadline_ms,
        "ended_at_ms": execution.ended_at_ms,
        "outputs": state.outputs(),
        "results": [
            {
                "name": each.name or None,
                **each.source.as_json(),
                "path": list(each.run.path),
                "value": each.value,
            }
            for each in state.results
        ],
        "failures": [
            {
                "vertex": each.run.vertex,
                "path": list(each.run.path),
                "reason": each.reason,
                "detail": each.detail,
                "tool": each.fqn,
            }
            for each in state.failures
        ],
        "waiting": [
            {
                "vertex": each.run.vertex,
                "path": list(each.run.path),
                "missing": list(each.missing),
            }
            for each in state.waiting
        ],
        "runs": [_run_document(each) for each in state.runs.values()],
    }


def _run_document(run: "RunState") -> dict[str, Any]:
    from nexus_tools.workflow import Settled

    settled = run.outcome if isinstance(run.outcome, Settled) else None
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


def _facts(state: "ExecutionState") -> dict[str, Any]:
    execution, terms = state.execution, state.terms
    ended_ms = execution.ended_at_ms
    return {
        "execution": str(execution.id),
        "workflow": str(state.workflow.fqn),
        "status": state.status.replace("_", " "),
        "owner": str(execution.owner),
        "leaders": ", ".join(map(str, terms.leaders)),
        "funds": None if state.is_ended else units.sui(execution.funds),
        "steps": execution.steps,
        "deadline": None if state.is_ended else units.utc(terms.deadline_ms),
        "ended": None if ended_ms is None else units.utc(ended_ms),
    }


def _in_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
