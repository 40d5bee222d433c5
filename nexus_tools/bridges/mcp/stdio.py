"""A server that is a program: started in the sandbox, a line of JSON for each message.

The SDK's own transport hands variables of the operator on, reads lines of any length, and keeps
stderr as it is; so this is ours. Source: MCP 2026-07-28, transports, stdio.
"""

import asyncio
import os
import re
from asyncio import Event, StreamReader
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.mcp.declaration import StdioServer
from nexus_tools.bridges.mcp.link import Link
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import (
    Limit,
    Scratch,
    environment_of,
    launcher,
)
from nexus_tools.bridges.sandbox.scratch import outlast
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges.mcp")

_TAIL_BYTES = 4_096
# A secret that begins before the tail is whole here, and taken out before its end is cut off.
_RAW_TAIL_BYTES = 2 * _TAIL_BYTES
_LOGGED_BYTES = 64 * 2**10


class Printed:
    """Reads one stream; its first 64 KiB go to the log, as of the server `name`, if that is given.

    `redaction` takes secrets out of it. `whole` is set at the stream's end.
    """

    def __init__(self, name: str | None, redaction: Redaction) -> None:
        self.whole = Event()
        self._name = name
        self._redaction = redaction
        self._tail = b""
        self._left = 0 if name is None else _LOGGED_BYTES

    async def read(self, stream: StreamReader) -> None:
        """Until the server closes it; lines may be of any length."""
        while chunk := await stream.read(2**16):
            self._tail = (self._tail + chunk)[-_RAW_TAIL_BYTES:]
            if self._left > 0:
                self._tell(chunk[: self._left])
                self._left -= len(chunk)
        self.whole.set()

    def tail(self) -> str:
        """The last 4 KiB as text."""
        text = self._redaction.text(self._tail.decode("utf-8", "ignore"))
        tail = text.encode()[-_TAIL_BYTES:].decode("utf-8", "ignore")
        return tail.replace("\0", "\ufffd").strip()

    def _tell(self, chunk: bytes) -> None:
        text = self._redaction.text(chunk.decode("utf-8", "replace"))
        for line in text.splitlines():
            _log.info("server_printed", server=self._name, line=line)
        if len(chunk) == self._left:
            _log.warning("server_prints_too_much", server=self._name)


# How long a server may take to end once its stdin is closed, and the launcher to kill it then.
_FAREWELL_S = 2.0
_WAITING = 256

_PYTHON = ("python", "python3")

# What the launcher says when it stops a program, or cannot start it.
_STOPPED = re.compile(r"^nexus_tools: limit ([a-z]+): ", re.MULTILINE)
_NOT_STARTED = re.compile(r"^nexus_tools: failed ([0-9]+) [a-z]+: (.*)$", re.MULTILINE)


@asynccontextmanager
async def stdio_link(name: str | None, server: StdioServer, host: Host) -> AsyncIterator[Link]:
    """Start the program and talk to it; it and all that it started are killed in the end.

    What it prints goes to the log under `name`, or nowhere.
    """
    async with Scratch(host.scratch) as scratch:
        command = _command(server, host)
        environment = environment_of(host, scratch=scratch, extra=server.environment)
        confinement = server.confinement(host)
        confinement.check()
        process = await asyncio.create_subprocess_exec(
            *launcher(
                command,
                scratch=scratch,
                limits=host.limits,
                environment=environment,
                confinement=confinement,
            ),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=server.directory or confinement.workspace or scratch.work,
            env=environment,
            limit=host.limits.output_bytes,
            start_new_session=True,
        )
        try:
            async with _talk(Printed(name, server.redaction), process) as link:
                yield link
        finally:
            await outlast(asyncio.ensure_future(_end(process)))


def _command(server: StdioServer, host: Host) -> tuple[str, ...]:
    """The program and its arguments; `python` is the interpreter that runs all tools in Python."""
    program, *arguments = server.command
    return (str(host.python) if program in _PYTHON else program, *arguments)


@asynccontextmanager
async def _talk(printed: Printed, process: Process) -> AsyncIterator[Link]:
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # Room for messages to a server that does not read: nobody waits for it longer than he likes.
    write, outward = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    link = Link(read, write)
    async with inward, read, write, outward, anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, process, inward, link, printed)
        tasks.start_soon(_send, process, outward)
        try:
            yield link
        finally:
            tasks.cancel_scope.cancel()


async def _receive(process: Process, inward: Any, link: Link, printed: Printed) -> None:
    """Pass on what the server says, until it ends; then say why it did."""
    assert process.stdout
    assert process.stderr
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(printed.read, process.stderr)
        async with inward:
            is_bounded = await _pass_all_on(process.stdout, inward)
        if is_bounded:
            with anyio.move_on_after(_FAREWELL_S):
                await process.wait()
                await printed.whole.wait()
        tasks.cancel_scope.cancel()
    link.log = printed.tail()
    if is_bounded:
        link.close(*_ending(process.returncode, link.log))
    else:
        link.close("the server sent a message that is too long", Limit.OUTPUT)


async def _pass_all_on(stdout: asyncio.StreamReader, inward: Any) -> bool:
    """Every message until the end; false as soon as one is too long."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        try:
            while line := await stdout.readline():
                await _pass_on(line, inward)
        except ValueError:
            return False
    return True


async def _pass_on(line: bytes, inward: Any) -> None:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return  # programs print: what is no message is nobody's
    await inward.send(SessionMessage(message))


async def _send(process: Process, outward: Any) -> None:
    assert process.stdin
    with suppress(OSError):
        async for item in outward:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(f"{text}\n".encode())
            await process.stdin.drain()


async def _end(process: Process) -> None:
    """Close its stdin, as the specification has it; who does not end is killed with all it has."""
    assert process.stdin
    process.stdin.close()
    for stop in (_nothing, process.terminate, process.kill):
        with suppress(ProcessLookupError):
            stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await _drained(process)
                return


def _nothing() -> None:
    pass


async def _drained(process: Process) -> None:
    """Until it has ended; what it still writes is thrown away, so that it does not wait for us."""
    assert process.stdout
    assert process.stderr
    for stream in (process.stdout, process.stderr):
        while await stream.read(2**16):
            pass
    await process.wait()


def _ending(exit_code: int | None, log: str) -> tuple[str, Limit | None]:
    if exit_code is None:
        return "the server closed its output", None
    stopped = _STOPPED.search(log)
    if stopped and stopped[1] in list(Limit):
        limit = Limit(stopped[1])
        return f"the server was stopped: it took more {limit.value} than it may", limit
    failed = _NOT_STARTED.search(log)
    if failed:
        return f"{failed[2]!r} cannot be started: {os.strerror(int(failed[1]))}", None
    return f"the server ended with exit code {exit_code}", None
