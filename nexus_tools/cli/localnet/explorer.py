"""The explorer that runs beside a localnet, in a process of its own."""

import asyncio
import json
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from nexus_tools.cli.explorer import DEFAULT_PORT
from nexus_tools.cli.framework import child_command
from nexus_tools.errors import NexusError
from nexus_tools.settings.running_localnet import DEFAULT_NAME

_STOP_TIMEOUT_S = 10.0


@asynccontextmanager
async def running_explorer(name: str) -> AsyncIterator[str]:
    """Run the explorer of a localnet during the context, and yield its URL.

    The explorer also ends if this process is killed. Raises `explorer_failed`.
    """
    process = await asyncio.create_subprocess_exec(
        *child_command("explorer", "--network", name, "--port", str(_free_port(name))),
        *("--json", "--quiet", "--until-stdin-ends"),
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield await _read_url(process)
    finally:
        await _stop(process)


def _free_port(name: str) -> int:
    """Return the usual port if it is free, or else 0 for any port."""
    if name != DEFAULT_NAME:
        return 0
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError:
            return 0
    return DEFAULT_PORT


async def _read_url(process: Process) -> str:
    """Return the URL in the document that the process prints when it is ready."""
    assert process.stdout is not None
    document = b""
    while line := await process.stdout.readline():
        document += line
        if line.rstrip() == b"}":
            return str(json.loads(document)["url"])
    raise NexusError("explorer_failed", "the explorer of the localnet did not start")


async def _stop(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_TIMEOUT_S):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
