"""`nexus-tools workflow watch`: an execution as it goes on."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, event_document, plain, reads
from nexus_tools.cli.workflow.execution_view import (
    picture,
    print_end,
    print_outcome,
    require_success,
)

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.package import RegistryEvent
    from nexus_tools.package.move.attempt import Attempt
    from nexus_tools.registry import ExecutionState, Following
    from nexus_tools.sui.address import Address

Draw = Callable[["ExecutionState"], None]


@click.command()
@click.argument("execution")
@reads
async def command(session: Session, *, execution: str) -> None:
    """Follow an EXECUTION until it has ended: on a terminal with a picture of its walks.

    Ctrl-C ends the watching alone. While the node is away it waits. The exit code is 1 if the
    execution ended before it was done. With --json a document on each line.
    """
    from nexus_tools.sui.address import Address

    output = session.output
    async with session.nexus(signing=False, endures=True) as nexus:
        place = Address.parse(execution)
        with _drawing(session) as draw:
            state = await _follow(session, nexus, place, draw)
    if not output.as_json:
        print_outcome(output, state)
    require_success(state)
    print_end(output, state)


async def _follow(
    session: Session, nexus: "Nexus", place: "Address", draw: Draw
) -> "ExecutionState":
    """The execution at its end; on the way what happens is printed."""
    from nexus_tools.client import EventRecord, follow_events
    from nexus_tools.package import event_filter, parse_event
    from nexus_tools.registry import OF_EXECUTIONS, OF_RUNS, Following

    kinds = event_filter(nexus.deployment, *OF_EXECUTIONS, *OF_RUNS)
    state: ExecutionState | None = None
    following = Following(place)
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
                    document = event_document(item, event)
                    click.echo(json.dumps(document, ensure_ascii=False, default=str))
                else:
                    _print_line(item.timestamp_ms, event, following, state)
            state = await nexus.executions.state(place)
            for each in state.runs.values():  # those that were requested before
                if each.invocation is not None and each.invocation.attempt is not None:
                    following.attempts[each.invocation.id] = each.invocation.attempt
            draw(state)
            if state.is_ended:
                return state
    raise AssertionError("events are followed without end")


@contextmanager
def _drawing(session: Session) -> Iterator[Draw]:
    """Draws on a terminal, over what was drawn before; elsewhere nothing."""
    if session.output.as_json or not sys.stdout.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, markup=False, emoji=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        yield lambda state: live.update(picture(state, console.width), refresh=True)


def _print_line(
    at_ms: int | None, event: "RegistryEvent", following: "Following", state: "ExecutionState"
) -> None:
    line = _line(event, following, state)
    if line:
        click.echo(plain(f"{units.utc(at_ms or 0)}  {line}"))


def _line(event: Any, following: "Following", state: "ExecutionState") -> str:
    """What happened, in words; empty where that is of no interest."""
    from nexus_tools.package.move.workflows import execution as moves

    match event:
        case moves.ExecutionShort():
            needed, funds = units.sui(event.needed_mist), units.sui(event.funds_mist)
            return f"! short of funds: {needed} needed, {funds} there (workflow refill)"
        case moves.ExecutionRefilled():
            return f"+ {units.sui(event.amount_mist)} of funds"
        case moves.ExecutionEnded():
            return f"{event.status.replace('_', ' ')}, {units.sui(event.refund_mist)} came back"
        case moves.RunRefused():
            return f"✗ {_name(state, event.run)} not requested: {event.reason}"
    attempt = following.attempts.get(getattr(event, "invocation", state.execution.id))
    advanced = isinstance(event, moves.ExecutionAdvanced)
    return "" if attempt is None or advanced else _of_run(event, _name(state, attempt.run), attempt)


def _of_run(event: Any, name: str, attempt: "Attempt") -> str:
    from nexus_tools.package.move import invocation as moves

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
