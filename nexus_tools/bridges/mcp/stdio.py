"""A server that is a program, started in the sandbox. Each message is one line of JSON.

This module replaces the SDK's own transport, which passes on variables of the operator, reads lines
of any length, and does not redact stderr. Source: MCP 2026-07-28, transports, stdio.
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

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.mcp.declaration import StdioServer
from nexus_tools.bridges.mcp.link import Link
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import (
    Limit,
    ScratchDirectory,
    environment_of,
    watched_command,
)
from nexus_tools.bridges.sandbox.scratch import finish_before_cancelling
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges.mcp")

_TAIL_BYTES = 4_096
# The raw tail is longer, so that a secret at the start of the tail is complete and is redacted.
_RAW_TAIL_BYTES = 2 * _TAIL_BYTES
_LOGGED_BYTES = 64 * 2**10


class OutputReader:
    """A reader of one stream. If `name` is set, the first 64 KiB go to that server's log.

    `redaction` removes secrets. `whole` is set at the end of the stream.
    """

    def __init__(self, name: str | None, redaction: Redaction) -> None:
        self.whole = Event()
        self._name = name
        self._redaction = redaction
        self._tail = b""
        self._left = 0 if name is None else _LOGGED_BYTES

    async def read(self, stream: StreamReader) -> None:
        """Read until the server closes the stream. Lines may have any length."""
        while chunk := await stream.read(2**16):
            self._tail = (self._tail + chunk)[-_RAW_TAIL_BYTES:]
            if self._left > 0:
                self._log_chunk(chunk[: self._left])
                self._left -= len(chunk)
        self.whole.set()

    def tail(self) -> str:
        """Return the last 4 KiB of the stream as text."""
        text = self._redaction.text(self._tail.decode("utf-8", "ignore"))
        tail = text.encode()[-_TAIL_BYTES:].decode("utf-8", "ignore")
        return tail.replace("\0", "\ufffd").strip()

    def _log_chunk(self, chunk: bytes) -> None:
        text = self._redaction.text(chunk.decode("utf-8", "replace"))
        for line in text.splitlines():
            _log.info("server_output", server=self._name, line=line)
        if len(chunk) == self._left:
            _log.warning("server_output_truncated", server=self._name)


# The time limit for the server to end after its stdin is closed, and then for the launcher to kill
# the server.
_SHUTDOWN_S = 2.0
_WAITING = 256

_PYTHON = ("python", "python3")

# The messages of the launcher when it stops a program or cannot start a program.
_STOPPED = re.compile(r"^nexus_tools: limit ([a-z]+): ", re.MULTILINE)
_NOT_STARTED = re.compile(r"^nexus_tools: failed ([0-9]+) [a-z]+: (.*)$", re.MULTILINE)


@asynccontextmanager
async def stdio_link(
    name: str | None, server: StdioServer, host: BridgeHost
) -> AsyncIterator[Link]:
    """Start the program and connect to it. At the end, all its processes are killed.

    The program's stderr goes to the log under `name`, or is discarded if `name` is None.
    """
    async with ScratchDirectory(host.scratch) as scratch:
        command = _command(server, host)
        environment = environment_of(host, scratch=scratch, extra=server.environment)
        confinement = server.confinement(host)
        confinement.check()
        process = await asyncio.create_subprocess_exec(
            *watched_command(
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
            async with _connect(OutputReader(name, server.redaction), process) as link:
                yield link
        finally:
            await finish_before_cancelling(asyncio.ensure_future(_shut_down(process)))


def _command(server: StdioServer, host: BridgeHost) -> tuple[str, ...]:
    """Return the command, with `python` replaced by the host's interpreter for Python tools."""
    program, *arguments = server.command
    return (str(host.python) if program in _PYTHON else program, *arguments)


@asynccontextmanager
async def _connect(reader: OutputReader, process: Process) -> AsyncIterator[Link]:
    read_sender, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # The buffer lets callers wait until their time limit if a server does not read its stdin.
    write, write_receiver = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    link = Link(read, write)
    async with read_sender, read, write, write_receiver, anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, process, read_sender, link, reader)
        tasks.start_soon(_send, process, write_receiver)
        try:
            yield link
        finally:
            tasks.cancel_scope.cancel()


async def _receive(process: Process, messages: Any, link: Link, reader: OutputReader) -> None:
    """Pass on the server's messages until it ends, and then record the reason."""
    assert process.stdout
    assert process.stderr
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.read, process.stderr)
        async with messages:
            is_bounded = await _forward_messages(process.stdout, messages)
        if is_bounded:
            with anyio.move_on_after(_SHUTDOWN_S):
                await process.wait()
                await reader.whole.wait()
        tasks.cancel_scope.cancel()
    link.log = reader.tail()
    if is_bounded:
        link.close(*_end_reason(process.returncode, link.log))
    else:
        link.close("the server sent a message that is too long", Limit.OUTPUT)


async def _forward_messages(stdout: asyncio.StreamReader, messages: Any) -> bool:
    """Pass on every message until the end. Return False as soon as a message is too long."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        try:
            while line := await stdout.readline():
                await _forward(line, messages)
        except ValueError:
            return False
    return True


async def _forward(line: bytes, messages: Any) -> None:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return  # ignore output that is not a message
    await messages.send(SessionMessage(message))


async def _send(process: Process, messages: Any) -> None:
    assert process.stdin
    with suppress(OSError):
        async for item in messages:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(f"{text}\n".encode())
            await process.stdin.drain()


async def _shut_down(process: Process) -> None:
    """Close stdin as the specification requires, and kill all processes if the server continues."""
    assert process.stdin
    process.stdin.close()
    for stop in (_do_nothing, process.terminate, process.kill):
        with suppress(ProcessLookupError):
            stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN_S):
                await _drain(process)
                return


def _do_nothing() -> None:
    pass


async def _drain(process: Process) -> None:
    """Wait until the process has ended. Discard its output so that the process does not block."""
    assert process.stdout
    assert process.stderr
    for stream in (process.stdout, process.stderr):
        while await stream.read(2**16):
            pass
    await process.wait()


def _end_reason(exit_code: int | None, log: str) -> tuple[str, Limit | None]:
    if exit_code is None:
        return "the server closed its output", None
    stop_message = _STOPPED.search(log)
    if stop_message and stop_message[1] in list(Limit):
        limit = Limit(stop_message[1])
        return f"the server was stopped because it exceeded its {limit.value} limit", limit
    start_failure = _NOT_STARTED.search(log)
    if start_failure:
        return f"{start_failure[2]!r} cannot be started: {os.strerror(int(start_failure[1]))}", None
    return f"the server exited with code {exit_code}", None
