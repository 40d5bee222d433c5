"""Asks a module in an interpreter of its own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import ProcessLimits, Scratch, detached, run
from nexus_tools.bridges.worker.reply import WorkerReply

_CHILD = "nexus_tools.bridges.worker.child"


async def ask(
    host: Host,
    module: str,
    request: Mapping[str, Any],
    *,
    scratch: Scratch,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    directory: Path | None = None,
) -> WorkerReply:
    """Call `answer(request)` of `module` in a fresh interpreter, and wait for its JSON value.

    `module` is one of this package, such as `nexus_tools.bridges.nora.child`; of the packages above
    it nothing is executed. It runs in `host.python`, isolated, so that there need be nothing but
    the standard library. What it prints goes to the log; its standard input is empty.

    Whatever happens in there is in the reply. Raises what `run` raises for a program that cannot
    be started, here the interpreter.
    """
    finished = await run(
        [str(host.python.absolute()), "-I", "-B", detached.__file__, _CHILD, module],
        scratch=scratch,
        environment=environment,
        limits=limits,
        directory=directory,
        input=json.dumps(dict(request), allow_nan=False).encode(),
        takes_reply=True,
    )
    return WorkerReply.of(finished)
