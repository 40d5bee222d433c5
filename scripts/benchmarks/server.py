"""Requests per second of a `ToolServer`, compared with an equivalent plain Starlette application.

There are three processes: both servers, and the load generator, which uses one server at a time.
Requests per CPU second refer to the CPU time of the server. Other work on the machine hardly
changes this figure, so the figure explains a change of the ratio.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.figure import Figure, at_least_of_peer, compared
from benchmarks.processes import Process, python, started
from benchmarks.rounds import interleaved

ROUNDS = 25
SECONDS = 0.4
CONNECTIONS = 32
TARGET = 0.7

_PEER = "bare Starlette"
_NOTE = f"{CONNECTIONS} keep-alive connections, one request at a time on each"
_UNLIKE = "bare Starlette ignores the headers; our server stores each answer by its idempotency key"


def measure(folder: Path) -> Iterator[Figure]:
    """Yield figures for plain requests, and for requests as a Leader sends them."""
    with (
        started(python("server_app", "tools"), folder / "tools.log") as tools,
        started(python("server_app", "bare"), folder / "bare.log") as bare,
        started(python("server_load"), folder / "load.log") as load,
    ):
        servers = _Server(tools, load), _Server(bare, load)
        for nexus_headers in (False, True):
            yield from _figures(*servers, nexus_headers=nexus_headers)


class _Server:
    """A running server, and its measurements."""

    def __init__(self, process: Process, load: Process) -> None:
        self._process = process
        self._load = load
        self._port = urlsplit(process.line()).port
        self.per_cpu_second: list[float] = []

    def per_second(self, *, nexus_headers: bool) -> float:
        """Return the responses per second in one round."""
        job = {
            "port": self._port,
            "seconds": SECONDS,
            "connections": CONNECTIONS,
            "nexus_headers": nexus_headers,
        }
        before = self._process.ask("cpu")
        responses, seconds = self._load.ask(job, timeout_s=SECONDS + 10)
        self.per_cpu_second.append(responses / (self._process.ask("cpu") - before))
        return float(responses / seconds)


def _figures(tools: _Server, bare: _Server, *, nexus_headers: bool) -> Iterator[Figure]:
    for server in (tools, bare):
        server.per_second(nexus_headers=nexus_headers)
        server.per_cpu_second.clear()
    rates = interleaved(
        ROUNDS,
        {
            "tools": lambda: tools.per_second(nexus_headers=nexus_headers),
            "bare": lambda: bare.per_second(nexus_headers=nexus_headers),
        },
    )
    name = f"server {'Nexus headers' if nexus_headers else 'plain'}"
    # With the headers, our server does more work than bare Starlette, because it stores answers by
    # idempotency key.
    target = None if nexus_headers else at_least_of_peer(TARGET)
    note = f"{_NOTE}; {_UNLIKE}" if nexus_headers else _NOTE
    peer = {_PEER: rates["bare"]}
    yield compared(name, "requests/s", rates["tools"], peer, target=target, note=note)
    peer = {_PEER: bare.per_cpu_second}
    yield compared(f"{name}, CPU", "requests/CPU s", tools.per_cpu_second, peer)
