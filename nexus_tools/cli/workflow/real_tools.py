"""Live tools for a simulation, on a server or in Python files that this process serves."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.tool.served_definitions import open_http, served_definitions
from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    Failure,
    FailureReason,
    InterfaceValidator,
    Outcome,
    ToolDefinition,
    canonical_json,
    parse_json,
    protocol,
)
from nexus_tools.tool_server import CheckFailedError, ToolProbe, load, serving
from nexus_tools.workflow import ToolFunction

if TYPE_CHECKING:
    import httpx

# The maximum wait in s for the end of a tool. A tool that blocks its event loop never ends.
_REST_S = 2.0


@asynccontextmanager
async def real_tools(
    targets: Sequence[str], urls: Sequence[str], ca_file: Path | None
) -> AsyncIterator[tuple[dict[str, ToolDefinition], dict[str, ToolFunction]]]:
    """Serve tools of Python `targets`, and connect to tools at `urls`, while the block runs.

    Yields definitions, and functions that call the tools, by FQN. A URL names a server or a tool.
    Raises the errors of `load` and `served_definitions`.
    """
    async with _ServedHere(targets) as own, open_http(ca_file) as http:
        found: dict[str, ToolDefinition] = {}
        for url in (*urls, *own):
            found.update(await _definitions(http, url))
        definitions = {str(item.fqn): item for item in found.values()}
        functions = {
            str(definition.fqn): _function(url, definition, http)
            for url, definition in found.items()
        }
        yield definitions, functions


async def _definitions(http: "httpx.AsyncClient", url: str) -> dict[str, ToolDefinition]:
    """Return the definitions of a server or of a tool, by the URLs of the tools."""
    try:
        return await served_definitions(http, url, all_tools=True)
    except ValidationError as error:
        if error.code != "not_a_tool":
            raise
    return await served_definitions(http, url, all_tools=False)


def _function(url: str, definition: ToolDefinition, http: "httpx.AsyncClient") -> ToolFunction:
    probe = ToolProbe(url, http, definition=definition)
    validator = InterfaceValidator(definition)

    async def call(ports: Mapping[str, Any]) -> Outcome:
        try:
            reply = await probe.invoke(canonical_json(ports))
        except CheckFailedError as error:
            return Failure(FailureReason.UNREACHABLE, error.message)
        if reply.status != HTTPStatus.OK:
            return _failure(reply.status, reply.body)
        try:
            return validator.check_output(parse_json(reply.body), len(reply.body))
        except ValidationError as error:
            return Failure(FailureReason.OUTPUT_INVALID, error.message)

    return call


def _failure(status: int, body: bytes) -> Failure:
    """Return the failure for an error response, with the detail from its problem document."""
    try:
        problem = parse_json(body)
    except ValidationError:
        problem = None
    found = problem if isinstance(problem, dict) else {}
    code, detail = (str(found.get(name, "")) for name in ("code", "detail"))
    reason = protocol.failure_reason(status, code)
    return Failure(reason, f"the tool responded with {status}{detail and ': '}{detail}")


class _ServedHere:
    """Servers of Python targets in a thread, so that a blocking tool does not block the simulation.

    The program does not wait for this daemon thread at its end.
    """

    def __init__(self, targets: Sequence[str]) -> None:
        self._servers = [load(target) for target in targets]
        for server in self._servers:
            server.include_causes()
        self._started: Future[list[str]] = Future()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="tools", daemon=True)

    async def __aenter__(self) -> list[str]:
        """Start the servers and return their URLs."""
        self._thread.start()
        return await asyncio.wrap_future(self._started)

    async def __aexit__(self, *_: object) -> None:
        with suppress(RuntimeError):  # a tool has ended the thread
            self._loop.call_soon_threadsafe(self._stopping.set)
        await asyncio.to_thread(self._thread.join, _REST_S)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        async with AsyncExitStack() as stack:
            try:
                urls = [
                    await stack.enter_async_context(serving(server)) for server in self._servers
                ]
            except BaseException as error:  # noqa: BLE001 - raised where the future is awaited
                self._started.set_exception(error)
                return
            self._started.set_result(urls)
            await self._stopping.wait()
