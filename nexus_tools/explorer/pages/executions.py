"""The page of an execution."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.explorer.drawings import draw, read_published
from nexus_tools.explorer.pages.workflows import shown_vertices
from nexus_tools.explorer.timeline import Mark, Row, Span, Timeline, draw_timeline
from nexus_tools.explorer.trees import json_tree
from nexus_tools.index import IndexedExecution, IndexedInvocation, find_execution
from nexus_tools.registry import Executions, ExecutionState, RunState
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Document, RunFailed, RunPhase, RunSettled

_MAX_RUNS = 30
_MAX_ROWS = 16
_MAX_MESSAGES = 5
_DRAWING_BYTES = 36_000
_VERTEX_CHARACTERS = 8_000
_RUN_NAMES = {None: "waiting", "settled": "ok", "expired": "warning"}


class ShownRun(Struct, frozen=True):
    """A run as the page lists it. `result` is its variant or the reason of its failure."""

    name: str
    phase: str
    attempt: int
    result: str
    invocation: Address | None


async def show_execution(context: PageContext) -> Page:
    """Show an execution: its drawing, runs, results and funds. A deleted one has only its runs."""
    execution_id = Address.parse_whole(context.path["id"])
    indexed = find_execution(context.connection, execution_id)
    if indexed is None:
        raise context.not_found("execution", str(execution_id))
    newest = context.index.invocations(execution=execution_id, limit=_MAX_ROWS).items
    values: dict[str, Any] = {
        "execution": indexed,
        "invocations": newest,
        "state": None,
        "problem": None,
        "vertices": (),
        "drawing": None,
    }
    names: Mapping[Address, str] = {}
    try:
        state, more = await _on_chain(context, indexed, newest)
        values |= more
        names = {run.invocation.id: str(run.run) for run in state.runs.values() if run.invocation}
    except NotFoundError:
        values |= await _drawing_of(context, indexed)
    except NexusError as error:
        values["problem"] = error.message
    values["names"] = names
    values["timeline"] = _timeline(indexed, newest, names, context.now_ms)
    return Page("execution.html", f"Execution {str(execution_id)[:10]}…", values)


async def _on_chain(
    context: PageContext, indexed: IndexedExecution, newest: tuple[IndexedInvocation, ...]
) -> tuple[ExecutionState, Mapping[str, Any]]:
    """Return the state of an execution, and the values that need it.

    The state is read again after each change of `newest`, its newest invocations.

    Raises `node_unreachable`, or `execution_unknown` if it was deleted.
    """
    chain = context.chain
    executions = Executions(chain.client, chain.deployment)

    async def read() -> tuple[ExecutionState, Sequence[Any], int | None]:
        state = await executions.state(indexed.id)
        return state, *await asyncio.gather(
            executions.wait_reasons(state), executions.spent_mist(state)
        )

    state, waits, spent_mist = await chain.shared(("execution", indexed, newest), read)
    document = state.workflow.document
    runs = [_shown_run(run) for run in list(state.runs.values())[:_MAX_RUNS]]
    results = {result.label: result.value for result in state.results}
    return state, {
        "state": state,
        "status": state.status.value,
        "waits": waits[:_MAX_MESSAGES],
        "spent_mist": spent_mist,
        "drawing": await draw(document, state.vertex_states(), max_bytes=_DRAWING_BYTES),
        **_vertices(document),
        "runs": _by_vertex(document, state, runs),
        "hidden_runs": max(len(state.runs) - _MAX_RUNS, 0),
        "results": json_tree("results", results, nodes=40, characters=4_000) if results else None,
        "failures": state.failures[:_MAX_MESSAGES],
    }


async def _drawing_of(context: PageContext, indexed: IndexedExecution) -> Mapping[str, Any]:
    """Return the drawing of a deleted execution's workflow, without states."""
    try:
        published = await read_published(context.chain, indexed.workflow)
    except NexusError:
        return {}
    return {
        "drawing": await draw(published.document, max_bytes=_DRAWING_BYTES),
        **_vertices(published.document),
        "runs": {},
        "hidden_runs": 0,
    }


def _vertices(document: Document) -> Mapping[str, Any]:
    vertices = shown_vertices(document, _VERTEX_CHARACTERS)
    return {"vertices": vertices, "hidden": len(document.vertices) - len(vertices)}


def _by_vertex(
    document: Document, state: ExecutionState, runs: Sequence[ShownRun]
) -> Mapping[str, list[ShownRun]]:
    found: dict[str, list[ShownRun]] = {vertex.name: [] for vertex in document.vertices}
    for run, shown in zip(state.runs, runs, strict=False):
        found.setdefault(run.vertex, []).append(shown)
    return found


def _shown_run(run: RunState) -> ShownRun:
    phase, result = "waiting", ""
    if run.phase is RunPhase.UNDER_WAY:
        phase = "running"
    if run.phase is RunPhase.CLOSED:
        phase = "failed" if isinstance(run.outcome, RunFailed) else "settled"
    if isinstance(run.outcome, RunSettled):
        result = run.outcome.variant
    elif isinstance(run.outcome, RunFailed):
        result = run.outcome.reason
    invocation = None if run.invocation is None else run.invocation.id
    return ShownRun(str(run.run), phase, run.attempt, result, invocation)


def _timeline(
    indexed: IndexedExecution,
    invocations: Sequence[IndexedInvocation],
    names: Mapping[Address, str],
    now_ms: int,
) -> Timeline | None:
    """Return the time line of the runs, or None if no run was requested."""
    rows = []
    for item in reversed(invocations):
        end_ms = item.closed_at_ms or max(item.requested_at_ms, min(now_ms, item.expires_at_ms))
        label = names.get(item.id) or str(item.fqn or "run").rpartition(".")[2]
        title = f"{label}: {(item.outcome or 'open').replace('_', ' ')}"
        span = Span(item.requested_at_ms, end_ms, _RUN_NAMES.get(item.outcome, "bad"), title)
        rows.append(Row(label, (span,), f"/invocations/{item.id}"))
    if not rows:
        return None
    marks = []
    if indexed.ended_at_ms is not None:
        marks.append(Mark(indexed.ended_at_ms, indexed.status.replace("_", " ")))
    return draw_timeline("Invocations of the runs, from request to closing", rows, marks)
