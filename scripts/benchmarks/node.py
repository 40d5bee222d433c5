"""A localnet process that can be killed, stopped, continued, and restarted with another state."""

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.processes import Process, home, nexus_tools, started
from nexus_tools.sui.network import Network


class Node:
    """A node with a chain in a folder. After a restart, the node has the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self._port = free_port()
        self._running = ExitStack()
        self.process: Process | None = None

    @property
    def network(self) -> Network:
        """The node's network, with its faucet."""
        url = f"http://127.0.0.1:{self._port}"
        return Network("localnet", url, url)

    @property
    def port(self) -> int:
        """The TCP port on which the node listens."""
        return self._port

    def start(self, state: Path) -> None:
        """Start with the chain in a folder, or a new chain if the folder is empty.

        Return when the node listens.
        """
        place = ("--port", str(self._port), "--state", str(state))
        command = nexus_tools("localnet", "start", *place, *self._options, "--json")
        log = self._folder / "localnet.log"
        self.process = self._running.enter_context(started(command, log, home(self._folder)))
        self.process.document()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the node. SIGSTOP suspends the node until SIGCONT."""
        assert self.process is not None
        self.process.send(number)

    def end(self) -> None:
        """Stop the node as an operator does. Afterwards, the node's folder contains its state."""
        if self.process is not None:
            self.send(signal.SIGCONT)  # a suspended process ignores signals
            self.process = None
        self._running.close()

    def kill(self) -> None:
        """Kill the node immediately, before it can write its state."""
        self.send(signal.SIGKILL)
        self.process = None
        self._running.close()


@contextmanager
def node(folder: Path, *options: str) -> Iterator[Node]:
    """Run a node with these options until the block ends, even if it is suspended."""
    made = Node(folder, *options)
    try:
        yield made
    finally:
        made.end()


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
