"""The list of invocations, and the page of an invocation."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import asdict

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.explorer.formatting import short_id
from nexus_tools.explorer.timeline import Mark, Row, Span, Timeline, draw_timeline
from nexus_tools.explorer.trees import TreeNode, json_tree
from nexus_tools.index import IndexedInvocation, InvocationOutcome
from nexus_tools.index.api import PageParameters
from nexus_tools.registry import (
    InvocationHistory,
    explain_history,
    read_history,
    read_invocation_after,
    validate_answers,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

_PAGE = 30
_WINDOWS = {
    "closed": ("ok", "closed the invocation"),
    "missed": ("bad", "missed"),
    "has_time": ("waiting", "open now"),
    "waits": ("waiting", "not started"),
    "not_needed": ("idle", "not needed"),
}
"""The color and the description of each state of a window."""
_MARKS = {"settled": "ok", "failed": "bad", "expired": "warning"}


class InvocationListParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list. `leader` excludes the other filters."""

    limit: Annotated[int, Meta(ge=1, le=50)] = _PAGE
    tool: Annotated[str, Meta(max_length=300)] | None = None
    requester: Address | None = None
    execution: Address | None = None
    leader: Address | None = None
    outcome: InvocationOutcome | None = None


async def list_invocations(context: PageContext) -> Page:
    """Show the newest invocations that match the filters."""
    parameters = context.parameters(InvocationListParameters)
    pager = context.pager("invocations", parameters)
    if parameters.leader is not None:
        found = context.index.invocations_closed_by(
            parameters.leader, limit=parameters.limit, after=pager.after
        )
    else:
        found = context.index.invocations(
            tool=_tool(context, parameters.tool),
            requester=parameters.requester,
            execution=parameters.execution,
            outcome=parameters.outcome,
            limit=parameters.limit,
            after=pager.after,
        )
    fields = asdict(parameters) | {"after": None, "limit": None}
    values = {
        "invocations": found.items,
        "links": pager.links(found.next),
        "parameters": parameters,
        "outcomes": list(InvocationOutcome),
        "is_filtered": any(value is not None for value in fields.values()),
    }
    return Page("invocations.html", "Invocations", values)


def _tool(context: PageContext, fqn: str | None) -> Address | None:
    """Return the ID of the tool with an FQN. Raises `fqn_invalid`, or shows that it is unknown."""
    if fqn is None:
        return None
    detail = context.index.tool(str(ToolFqn.parse(fqn)))
    if detail is None:
        raise context.not_found("tool", fqn, "FQN")
    return detail.tool.id


async def show_invocation(context: PageContext) -> Page:
    """Show an invocation: its times, inputs, outcome and payments.

    Without a node, the page shows what the index knows.
    """
    invocation_id = Address.parse_whole(context.path["id"])
    indexed = context.index.invocation(invocation_id)
    if indexed is None:
        raise context.not_found("invocation", str(invocation_id))
    values: dict[str, Any] = {"invocation": indexed, "explanation": None, "problem": None}
    values |= {"timeline": _indexed_timeline(context, indexed), "inputs": None, "outcome": None}
    try:
        # After its closing, an invocation changes only by its deletion, which changes the key.
        values |= await context.chain.shared(
            ("invocation", indexed),
            lambda: _on_chain(context, invocation_id),
            is_final=lambda found: (
                indexed.outcome is not None and found["explanation"]["state"] != "requested"
            ),
        )
    except (UnreachableError, NotFoundError) as error:
        values["problem"] = error.message
    return Page("invocation.html", f"Invocation {str(invocation_id)[:10]}…", values)


async def _on_chain(context: PageContext, invocation: Address) -> Mapping[str, Any]:
    """Return the values that need the node. Raises `node_unreachable` or `history_missing`."""
    client = context.chain.client
    package = PackageClient(client, context.chain.deployment)
    history, value, chain_ms = await asyncio.gather(
        read_history(package, invocation), client.object(invocation), client.now_ms()
    )
    now_ms = max(context.now_ms, chain_ms)
    current = package.decode(value, Invocation) or await _last_version(package, history)
    invalid = None
    if value is not None and current is not None:
        invalid = (await validate_answers(package, [current])).get(invocation)
    explanation = explain_history(history, now_ms, invalid)
    for window in explanation["windows"]:
        window["leader"] = Address.parse(window["leader"])
        window["result"] = _WINDOWS[window["state"]][1]
    return {
        "explanation": explanation,
        "timeline": _timeline(context, explanation, now_ms),
        "inputs": None if current is None else _ports_tree("inputs", current.inputs),
        "outcome": _outcome(current),
        "invalid": invalid,
    }


async def _last_version(package: PackageClient, history: InvocationHistory) -> Invocation | None:
    """Return the last version of a deleted invocation, or None if the node has pruned it."""
    for step in reversed(history.steps):
        found = await read_invocation_after(package, step)
        if found is not None:
            return found
    return None


def _ports_tree(name: str, ports: Ports) -> TreeNode:
    """Return the values of ports as a tree. Invalid JSON is shown as text."""
    try:
        return json_tree(name, ports.with_locations())
    except ValidationError as error:
        return json_tree(name, {"invalid": error.message})


def _outcome(invocation: Invocation | None) -> TreeNode | None:
    if invocation is None or not isinstance(invocation.state, State.Settled):
        return None
    return _ports_tree(invocation.state.variant, invocation.state.ports)


# --- Time line


def _timeline(context: PageContext, explanation: Mapping[str, Any], now_ms: int) -> Timeline:
    """Return the time line of the windows, up to the closing or to now."""
    steps = explanation["steps"]
    closing = next((step for step in steps if step["event"] in _MARKS), None)
    end_ms = now_ms if closing is None else closing["at_ms"]
    rows = []
    for number, window in enumerate(explanation["windows"], 1):
        name = context.leader_name(window["leader"]) or short_id(window["leader"])
        state = window["state"]
        start_ms = min(window["starts_at_ms"], end_ms)
        stop_ms = min(window["ends_at_ms"], max(end_ms, start_ms))
        is_used = window["starts_at_ms"] <= end_ms
        usual, result = _WINDOWS[state]
        title = f"Window {number} of {name}: {result}"
        is_failure = state == "closed" and explanation["state"] == "failed"
        color = "bad" if is_failure else usual
        spans = (Span(start_ms, stop_ms, color, title),) if is_used else ()
        rows.append(Row(name, spans, f"/leaders/{window['leader']}"))
    marks = [
        Mark(step["at_ms"], step["event"], _MARKS.get(step["event"], "mark")) for step in steps
    ]
    return draw_timeline("Windows of the leaders from request to closing", rows, marks)


def _indexed_timeline(context: PageContext, indexed: IndexedInvocation) -> Timeline:
    """Return the time line from the index, without windows."""
    end_ms = indexed.closed_at_ms or min(context.now_ms, indexed.expires_at_ms)
    name = {None: "waiting", "settled": "ok"}.get(indexed.outcome, "bad")
    span = Span(indexed.requested_at_ms, max(end_ms, indexed.requested_at_ms), name, "open")
    marks = [Mark(indexed.requested_at_ms, "requested")]
    if indexed.closed_at_ms is not None:
        marks.append(Mark(indexed.closed_at_ms, indexed.outcome or "closed", name))
    return draw_timeline("From request to closing", [Row("open", (span,))], marks)
