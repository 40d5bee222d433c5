"""The server of the network in a thread of this process, and the check of its health."""

import asyncio
import http.client
import logging
import threading
from collections.abc import Callable
from functools import cache
from time import monotonic, sleep
from typing import TypeVar

from fuzzing.finding import Broken
from fuzzing.network import Network, network
from nexus_tools.sui.localnet.rpc import Server
from nexus_tools.sui.rpc import Messages, load_messages

T = TypeVar("T")
_SETTLING_SECONDS = 5
_OWN_CONNECTIONS = 2  # one connection for gRPC, and one for the health checks
_MEMORY_BYTES = 700 * 1024**2


class Served:
    """A server on a free port. `errors` are the errors that the server or asyncio has logged."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.messages: Messages = load_messages()
        self.network: Network = network()
        self.port = 0
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = Server(self.network.node)
        self.port = asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result()
        self._health = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self._tasks = self.call(lambda: len(asyncio.all_tasks()))
        self._memory = 0
        handler = _Collector(self.errors)
        logging.getLogger().addHandler(handler)

    def call(self, function: Callable[[], T]) -> T:
        """Call a function in the server's thread."""

        async def run() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def restart(self) -> None:
        """Revert the chain to its start."""
        self.errors.clear()
        self.call(self.network.restart)

    def check(self) -> None:
        """Check that the server responds, has released closed connections, and logged no error."""
        try:
            self._health.request("GET", "/health")
            if self._health.getresponse().read()[:1] != b"{":
                raise Broken("the server is not healthy")
        except (OSError, http.client.HTTPException) as error:
            self._health.close()
            raise Broken(f"the server does not respond: {error!r}") from error
        if self.errors:
            raise Broken(f"the server logged an error: {self.errors[0]}")
        self._check_left()
        self._check_memory()

    def _check_left(self) -> None:
        deadline = monotonic() + _SETTLING_SECONDS
        while (left := self.call(self._left)) and monotonic() < deadline:
            sleep(0.005)
        if left:
            raise Broken(f"{left} remain: {self.call(lambda: [*map(repr, asyncio.all_tasks())])}")

    def _left(self) -> str:
        """Return a description of the tasks and connections that remain, or an empty string."""
        tasks = len(asyncio.all_tasks()) - self._tasks
        connections = self._server.connected - _OWN_CONNECTIONS
        return f"{tasks} tasks and {connections} connections" if max(tasks, connections) > 0 else ""

    def _check_memory(self) -> None:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - often and short
            resident = int(file.read().split()[1]) * 4096
        self._memory = self._memory or resident
        if resident > self._memory + _MEMORY_BYTES:
            raise Broken(f"the server leaks memory: it uses {resident // 1024**2} MiB")


class _Collector(logging.Handler):
    """A handler that collects logged errors."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        """Collect a record with its traceback."""
        self._errors.append(logging.Formatter("%(name)s %(message)s").format(record))


@cache
def served() -> Served:
    """Return the server of this process."""
    return Served()
