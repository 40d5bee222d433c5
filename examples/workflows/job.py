"""A long job that is polled repeatedly, with increasing pauses.

A Leader calls a tool for minutes at most. The pauses are on chain and may last days.
"""

import time

from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import Workflow, wait


class Started(Variant, name="ok"):
    """The job is running."""

    done_at: float


@tool("xyz.example.jobs.start@1")
async def start(seconds: float) -> Started:
    """Start a job that takes this number of seconds."""
    return Started(done_at=time.time() + seconds)


class Done(Variant, name="done"):
    """The job is done."""

    result: str


class Running(Variant, name="running"):
    """The job is not done: the pause until the next look."""

    pause_ms: int


@tool("xyz.example.jobs.look@1")
async def look(done_at: float, pause_ms: int) -> Done | Running:
    """Check a job; if it is not done, the next pause is twice as long as the last one."""
    return Done(result="42") if time.time() >= done_at else Running(pause_ms=2 * pause_ms)


flow = Workflow("xyz.example.jobs.result@1", "Starts a job and waits for its result.")
[seconds] = flow.inputs(seconds=float)

started = flow.add(start, seconds=seconds)
with flow.loop(pause=500) as loop:
    waited = flow.add(wait, duration_ms=loop.pause)
    looked = flow.add(look, done_at=started.ok.done_at, pause_ms=loop.pause)
    looked.after(waited.over.at_ms)
    loop.again(pause=looked.running.pause_ms)
flow.output("result", looked.done.result)
