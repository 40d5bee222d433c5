"""The command `nexus-tools workflow simulate`, with stubs or live tools."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    DURATION,
    FILE,
    Output,
    Session,
    complete_files,
    json_text,
    offline_command,
    plain,
    read_bytes,
)
from nexus_tools.cli.shared.workflow_inputs import INPUTS, explained, read_inputs
from nexus_tools.cli.workflow.prices import by_tool, read_prices
from nexus_tools.cli.workflow.tool_sources import ToolSources, tool_source_options
from nexus_tools.cli.workflow.workflow_file import valid_workflow
from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.sui.support import units
from nexus_tools.sui.support.suggestions import with_suggestion

if TYPE_CHECKING:
    from nexus_tools.workflow import Document, SimulatedCall, Simulation, Stub, ToolPorts

_SHOWN_CALLS = 100
_MOST_SHOWN, _LEAST_SHOWN = 60, 20
_OTHER_COLUMNS = 40
_EARLY_ENDS = {
    "terminated": "was terminated",
    "cancelled": "was stopped",
    "timed_out": "timed out",
}
_COLUMNS = {
    "run": "Run",
    "began": "Started",
    "took": "Duration",
    "inputs": "Inputs",
    "outcome": "Outcome",
}


@click.command()
@click.argument("file", shell_complete=complete_files)
@INPUTS
@click.option("--stubs", type=FILE, help="JSON document with results that replace tool calls.")
@tool_source_options
@click.option("--group", help="Entry group to start with.")
@click.option(
    "--price",
    "prices",
    metavar="TOOL=SUI",
    multiple=True,
    help="Price of a tool for the estimate, by its FQN or a vertex. May be repeated.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Maximum number of runs.",
)
@click.option("--deadline", type=DURATION, help="Maximum simulated duration, for example 10m.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an SVG diagram with the state of each vertex to this file.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write stubs that reproduce this simulation to this file.",
)
@offline_command
async def command(
    session: Session,
    *,
    file: str,
    inputs: tuple[str, ...],
    stubs: Path | None,
    sources: ToolSources,
    group: str | None,
    prices: tuple[str, ...],
    max_steps: int,
    deadline: int | None,
    svg: Path | None,
    record: Path | None,
) -> None:
    """Simulate the workflow in FILE locally. Nothing is sent to a chain, and nothing is paid.

    FILE is a JSON document, a folder with a `workflow.json`, or a Python file with a `Workflow`.
    Each vertex returns the result of its stub, else of its tool, else a generated example. The
    command invokes the tools of --tools and --url, with all their side effects. The clock is
    simulated, so the command does not wait for the durations of stubs. The command estimates costs
    from prices and fees. The exit code is 1 if the execution does not complete.
    """
    given = read_inputs(inputs)
    from nexus_tools.workflow import StepCosts, simulate

    priced = read_prices("--price", prices)
    with session.output.progress(f"simulating {file}"):
        async with sources.open() as (definitions, functions):
            document, known = valid_workflow(session.output, file, definitions)
            stubbed = _stubs(session.output, document, known, stubs)
            try:
                done = await simulate(
                    document,
                    given,
                    {**functions, **stubbed},
                    group=group,
                    definitions=definitions,
                    costs=StepCosts(by_tool("--price", document, priced)),
                    max_steps=max_steps,
                    deadline_ms=deadline,
                )
            except (UsageError, ValidationError) as error:
                raise explained(error, given) from error
    if svg is not None:
        _draw(document, done, svg)
    if record is not None:
        _record(done, record)
    _report(session.output, file, done)


# --- Input


def _stubs(
    output: Output, document: "Document", tools: "Mapping[str, ToolPorts]", path: Path | None
) -> "dict[str, Stub]":
    """Read the stubs in a file, and warn about names that are not in the workflow."""
    if path is None:
        return {}
    from nexus_tools.workflow import read_stubs

    try:
        stubs = read_stubs(read_bytes(str(path)), document, tools)
    except ValidationError as error:
        error.message = f"{path}: {error.message}"
        raise
    known = {vertex.name for vertex in document.vertices} | {
        vertex.fqn for vertex in document.vertices
    }
    for name in stubs.keys() - known:
        message = f"{path} has a stub for {name!r}, which is not a vertex or tool of the workflow."
        output.warn(plain(with_suggestion(message, name, known)))
    return stubs


# --- Output


def _report(output: Output, file: str, done: "Simulation") -> None:
    """Print the simulation. Raises `workflow_failed` if the execution did not complete."""
    steps = "1 step" if len(done.calls) == 1 else f"{len(done.calls)} steps"
    cost = units.format_sui_argument(done.cost_mist)
    came_to = f"{steps} in {units.duration(done.time_ms)}, about {cost} SUI"
    reasons = list(done.reasons())
    end = _EARLY_ENDS.get(done.status)
    why = reasons.pop(0) if end else ""
    if output.as_json:
        output.document(done.as_json())
    else:
        _print(output, done, reasons)
    if end:
        hint = "Pass a larger --max-steps." if done.status == "cancelled" else ""
        message = f"{file} {end} after {came_to}: {why}"
        raise NexusError("workflow_failed", message, hint=hint)
    output.done(f"{done.status.replace('_', ' ')}: {came_to}")


def _print(output: Output, done: "Simulation", reasons: Sequence[str]) -> None:
    calls = sorted(done.calls, key=lambda call: (call.started_ms, call.run))
    # Inputs and outcomes share the remaining width. Without a terminal, the width is 200 columns.
    room = (get_terminal_size((200, 24)).columns - _OTHER_COLUMNS) // 2
    width = max(_LEAST_SHOWN, min(_MOST_SHOWN, room))
    rows = [_row(call, width) for call in calls[:_SHOWN_CALLS]]
    output.table(rows, _COLUMNS, empty="no tool was called")
    if len(done.calls) > len(rows):
        output.note(f"… and {len(done.calls) - len(rows)} more calls. Pass --json to see all calls")
    if done.results:
        results = _results(done)
        output.record(results, {label: label for label in results}, title="Results")
    if done.generated:
        names = ", ".join(sorted(done.generated))
        output.warn(plain(f"results were generated, because stubs and tools are missing: {names}"))
        output.note(
            "  Pass --stubs FILE to set results, or --tools TARGET or --url URL to call tools"
        )
    for sentence in reasons:
        output.warn(plain(sentence))


def _results(done: "Simulation") -> dict[str, str]:
    """Return results by label. A label is the name or port of an output, and the run's path."""
    found = {}
    for result in done.results:
        path = f"[{','.join(map(str, result.path))}]" if result.path else ""
        value = json.dumps(result.value, ensure_ascii=False)
        found[plain(f"{result.name or result.source}{path}")] = value
    return found


def _row(call: "SimulatedCall", width: int) -> dict[str, str]:
    from nexus_tools.tool import Answer

    if isinstance(call.outcome, Answer):
        outcome = " ".join((call.outcome.variant, *_ports(call.outcome.ports)))
    else:
        outcome = f"✗ {call.outcome.reason}: {call.outcome.detail}"
    again = f" (attempt {call.attempt})" if call.attempt > 1 else ""
    return {
        "run": f"{call.run}{again}",
        "began": units.duration(call.started_ms),
        "took": units.duration(call.ended_ms - call.started_ms),
        "inputs": _cut(" ".join(_ports(call.inputs)), width),
        "outcome": _cut(outcome, width),
    }


def _ports(ports: Mapping[str, Any]) -> Iterator[str]:
    for name, value in ports.items():
        yield f"{name}={json.dumps(value, ensure_ascii=False)}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _draw(document: "Document", done: "Simulation", path: Path) -> None:
    """Draw the states of the runs of each vertex."""
    from nexus_tools.tool import Answer
    from nexus_tools.workflow import VertexState, draw_svg

    last = {call.run: call for call in done.calls}
    counts = {vertex.name: Counter[str]() for vertex in document.vertices}
    for run, call in last.items():
        counts[run.vertex]["settled" if isinstance(call.outcome, Answer) else "failed"] += 1
    for blocked in done.waiting:
        counts[blocked.run.vertex]["waiting"] += 1
    states = {name: VertexState(**count) for name, count in counts.items()}
    path.write_text(draw_svg(document, states), encoding="utf-8")


def _record(done: "Simulation", path: Path) -> None:
    path.write_text(f"{json_text(done.stubs())}\n", encoding="utf-8")
