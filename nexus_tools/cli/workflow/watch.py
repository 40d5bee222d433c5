"""The command `nexus-tools workflow watch`, which follows an execution."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, event_document, network_command, plain
from nexus_tools.cli.workflow.execution_view import (
    picture,
    print_end,
    print_outcome,
    print_waits,
    require_success,
    state_document,
)
from nexus_tools.cli.workflow.waits import report_waits, waits_document
from nexus_tools.sui.support import units
from nexus_tools.sui.support.untrusted_text import escaped_json

if TYPE_CHECKING:
    from nexus_tools.contracts import RegistryEvent
    from nexus_tools.contracts.move_bindings.attempt import Attempt
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import ExecutionEventFilter, ExecutionState, Wait
    from nexus_tools.sui.types.address import Address

Draw = Callable[["ExecutionState"], None]


@click.command()
@click.argument("execution")
@network_command
async def command(session: Session, *, execution: str) -> None:
    """Follow an EXECUTION until it ends. On a terminal, a diagram shows its progress.

    Ctrl-C only stops watching. While the node is unreachable, the command waits. The exit code is 1
    if the execution ends before it completes.

    With --json, each line is a JSON document. The document is an event with its Move fields, or has
    `waits_for`, the new conditions for which the execution waits. The last line is the execution,
    as in `nexus-tools workflow show`.
    """
    from nexus_tools.sui.types.address import Address

    output = session.output
    async with session.nexus(signing=False, keeps_running=True) as nexus:
        place = Address.parse_whole(execution)
        with _drawing(session) as draw:
            async with report_waits(nexus, place, partial(_tell, output), output.note):
                state = await _follow(session, nexus, place, draw)
        spent_mist = await nexus.executions.spent_mist(state)
    if output.as_json:
        _echo_document(state_document(state, (), spent_mist))
    else:
        print_outcome(output, state, ends=True)
    require_success(state)
    print_end(session, state)


def _tell(output: Output, waits: "Sequence[Wait]") -> None:
    if output.as_json:
        _echo_document({"waits_for": waits_document(waits)})
    else:
        print_waits(output, waits)


def _echo_document(document: Any) -> None:
    """Print a document on one line."""
    click.echo(escaped_json(json.dumps(document, ensure_ascii=False, default=str)))


async def _follow(
    session: Session, nexus: "Nexus", place: "Address", draw: Draw
) -> "ExecutionState":
    """Print the events of the execution, and return its state at the end."""
    from nexus_tools.contracts import event_filter, parse_event
    from nexus_tools.registry import OF_EXECUTIONS, RUN_EVENTS, ExecutionEventFilter
    from nexus_tools.sui.client import EventRecord, follow_events

    kinds = event_filter(nexus.deployment, *OF_EXECUTIONS, *RUN_EVENTS)
    state: ExecutionState | None = None
    following = ExecutionEventFilter(place)
    async with aclosing(follow_events(nexus.client, kinds, timestamps=True)) as items:
        async for item in items:
            if state is not None:
                event = (
                    parse_event(nexus.deployment, item.event)
                    if isinstance(item, EventRecord)
                    else None
                )
                if event is None or not following.is_wanted(event):
                    continue
                assert isinstance(item, EventRecord)
                if session.output.as_json:
                    _echo_document(event_document(item, event))
                else:
                    _print_line(item.timestamp_ms, event, following, state)
            state = await nexus.executions.state(place)
            for run in state.runs.values():  # invocations from the time before the first event
                if run.invocation is not None and run.invocation.attempt is not None:
                    following.attempts[run.invocation.id] = run.invocation.attempt
            draw(state)
            if state.is_ended:
                return state
    raise AssertionError("events are followed without end")


@contextmanager
def _drawing(session: Session) -> Iterator[Draw]:
    """Redraw a diagram at the same position of a terminal. Without a terminal, draw nothing.

    A diagram that is taller than the terminal cannot be redrawn, so it is drawn at the end.
    """
    if session.output.as_json or not sys.stdout.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, markup=False, emoji=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        is_told = False

        def draw(state: "ExecutionState") -> None:
            nonlocal is_told
            drawn = picture(state, console.width)
            if state.is_ended or len(console.render_lines(drawn)) < console.height:
                live.update(drawn, refresh=True)
            elif not is_told:
                is_told = True
                session.output.note(
                    "the diagram is taller than the terminal, so it is shown at the end"
                )

        yield draw


def _print_line(
    at_ms: int | None,
    event: "RegistryEvent",
    following: "ExecutionEventFilter",
    state: "ExecutionState",
) -> None:
    line = _line(event, following, state)
    if line:
        click.echo(plain(f"{units.format_utc_seconds(at_ms or 0)}  {line}"))


def _line(event: Any, following: "ExecutionEventFilter", state: "ExecutionState") -> str:
    """Return an event as text, or an empty string for an irrelevant event."""
    from nexus_tools.contracts.move_bindings.workflows import execution as moves

    match event:
        case moves.ExecutionUnderfunded():
            needed, funds = units.sui(event.needed_mist), units.sui(event.funds_mist)
            return (
                f"! insufficient funds: {needed} needed, {funds} available."
                " Run `nexus-tools workflow refill` to add funds"
            )
        case moves.ExecutionRefilled() | moves.ExecutionRefunded():
            where = "of funds" if isinstance(event, moves.ExecutionRefilled) else "refunded"
            return f"+ {units.sui(event.amount_mist)} {where}"
        case moves.ExecutionStopped():
            how = event.status.replace("_", " ")
            return f"! {how}: no more requests are sent. Leaders still close pending invocations"
        case moves.ExecutionEnded():
            return f"{event.status.replace('_', ' ')}, {units.sui(event.refund_mist)} refunded"
        case moves.RunRefused():
            return f"✗ {_name(state, event.run)} not requested: {event.reason}"
    attempt = following.attempts.get(getattr(event, "invocation", state.execution.id))
    advanced = isinstance(event, moves.ExecutionAdvanced)
    return "" if attempt is None or advanced else _of_run(event, _name(state, attempt.run), attempt)


def _of_run(event: Any, name: str, attempt: "Attempt") -> str:
    from nexus_tools.contracts.move_bindings import invocation as moves

    match event:
        case moves.InvocationSettled():
            return f"✓ {name} {event.variant}"
        case moves.InvocationFailed():
            return f"✗ {name} {event.reason}{f': {event.detail}' if event.detail else ''}"
        case moves.InvocationExpired():
            return f"✗ {name} expired"
    return f"▸ {name} requested{f', attempt {attempt.number}' if attempt.number > 1 else ''}"


def _name(state: "ExecutionState", run: Any) -> str:
    from nexus_tools.workflow import Run

    return str(Run([*state.workflow.plan.vertices][run.vertex], tuple(run.path)))
