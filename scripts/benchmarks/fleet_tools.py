"""The server of the tools that `fleet` measures, which records each call.

The program prints its URL when it serves requests, and serves until SIGTERM. For each input line,
the program writes the calls to the file that it got as its argument, and prints `true`.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from starlette.types import Receive, Scope, Send

from benchmarks.fleet_calls import Call, write_calls
from benchmarks.flows import ECHO
from nexus_tools.tool import ToolDefinition, ToolFqn, protocol
from nexus_tools.tool_server import Limits, Tool, ToolServer, Variant, run, tool

# The longest timeout that a tool may have. The leader's window is 15 s longer, so a window ends
# after each fault of the benchmark.
_TIMEOUT_MS = 120_000
_HANGING_TIMEOUT_MS = 20_000
_MAX_RUNNING = 100_000

SECONDS = {
    ToolFqn.parse("xyz.example.fleet.quick@1"): 0.05,
    ToolFqn.parse("xyz.example.fleet.middle@1"): 5.0,
    ToolFqn.parse("xyz.example.fleet.long@1"): 90.0,
}
"""The duration of a call of each tool that answers."""
QUICK, MIDDLE, LONG = SECONDS

HANGING = tuple(ToolFqn.parse(f"xyz.example.fleet.hanging{number}@1") for number in range(16))
"""The tools that never answer."""


class Done(Variant, name="ok"):
    """The number of the input."""

    number: int


class Text(Variant, name="ok"):
    """A text."""

    text: str


@tool(ECHO, timeout_ms=_TIMEOUT_MS)
async def echo(text: str) -> Text:
    """Return a text unchanged."""
    await asyncio.sleep(SECONDS[QUICK])
    return Text(text=text)


def _wait(seconds: float) -> Callable[..., Any]:
    async def wait(number: int) -> Done:
        """Wait, and return a number unchanged."""
        await asyncio.sleep(seconds)
        return Done(number=number)

    return wait


TOOLS: Sequence[Tool] = (
    echo,
    *(tool(fqn, timeout_ms=_TIMEOUT_MS)(_wait(seconds)) for fqn, seconds in SECONDS.items()),
    *(tool(fqn, timeout_ms=_HANGING_TIMEOUT_MS)(_wait(0.0)) for fqn in HANGING),
)


class RecordingServer(ToolServer):
    """A server that records each call. Calls of `HANGING` get no answer."""

    def __init__(self) -> None:
        super().__init__(TOOLS, limits=Limits(max_running=_MAX_RUNNING))
        self.calls: list[Call] = []
        self._fqns = {
            protocol.endpoint(path, protocol.INVOKE): tool.fqn for path, tool in self.tools.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and record it if it is a call."""
        fqn = self._fqns.get(scope["path"]) if scope["type"] == "http" else None
        if fqn is None:
            await super().__call__(scope, receive, send)
            return
        headers = dict(scope["headers"])
        invocation = headers[protocol.INVOCATION_HEADER.lower().encode()].decode()
        call = Call(str(fqn), invocation, monotonic())
        self.calls.append(call)

        async def send_recorded(message: Any) -> None:
            call.status = message.get("status", call.status)
            await send(message)

        try:
            if fqn in HANGING:
                await _until_disconnected(receive)
            else:
                await super().__call__(scope, receive, send_recorded)
        finally:
            call.ended_at = monotonic()


async def _until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def definitions(url: str) -> list[ToolDefinition]:
    """Return the definitions of all tools of the server at a URL."""
    return ToolServer(TOOLS).definitions(url)


def _write_when_asked(server: RecordingServer, path: Path) -> None:
    for _ in sys.stdin:
        write_calls(path, list(server.calls))
        print(json.dumps(True), flush=True)


def _say(url: str) -> None:
    print(url, flush=True)


if __name__ == "__main__":
    recording = RecordingServer()
    asked = (recording, Path(sys.argv[1]))
    threading.Thread(target=_write_when_asked, args=asked, daemon=True).start()
    run(recording, port=0, on_ready=_say)
