"""Calls to a module in a separate interpreter, which return a value or the error of its code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.sandbox import (
    Confinement,
    ProcessLimits,
    ProcessResult,
    ScratchDirectory,
    environment_of,
    run,
    standalone,
)
from nexus_tools.bridges.schemas.variants import error
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import parse_json
from nexus_tools.tool_server import NotReadyError

NO_REPLY = "NoReply"
BAD_REPLY = "BadReply"
DEPENDENCY_MISSING = "DependencyMissingError"
"""The class in `worker.child` for a missing module, raised before the tool runs."""


@dataclass(frozen=True, slots=True)
class WorkerError:
    """The reason why a worker did not return a value: the exception's class name and message.

    `type` is `NoReply` if the worker ended or was stopped before it replied, and `BadReply` if it
    sent something other than a reply. `traceback` is the end of the exception's traceback.
    """

    type: str
    message: str
    traceback: str = field(default="", repr=False, compare=False)

    def hint(self, host: BridgeHost) -> str:
        """Return a hint for the operator, or an empty string."""
        if self.type != ModuleNotFoundError.__name__:
            return ""
        return f"Install the module for {host.python}, or choose another interpreter with --python."


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The `value` that a module's `reply` returned, or the `error`, and the process result."""

    value: Any | None
    error: WorkerError | None
    finished: ProcessResult

    @classmethod
    def of(cls, finished: ProcessResult) -> "WorkerReply":
        """Return the reply of a finished process. An exceeded limit takes precedence."""
        if finished.limit or finished.reply is None:
            return cls(None, WorkerError(NO_REPLY, finished.reason()), finished)
        try:
            match parse_json(finished.reply):
                case {"value": value, **others} if not others:
                    return cls(value, None, finished)
                case {
                    "type": str(kind),
                    "message": str(text),
                    "traceback": str(trace),
                    **others,
                } if not others:
                    return cls(None, WorkerError(kind, text, trace), finished)
        except ValidationError as error:
            return cls(None, WorkerError(BAD_REPLY, error.message), finished)
        return cls(None, WorkerError(BAD_REPLY, "the reply is not a valid worker reply"), finished)


_log = get_logger("nexus_tools.bridges")


def failure(reply: WorkerReply, tool: object) -> dict[str, Any]:
    """Return the `err` output for `reply.error`, with the exception or the exit status.

    The traceback contains paths of the operator, and outcomes may be public. Therefore the
    traceback goes only to the server's log, under the name of the `tool`.

    Raises:
        NotReadyError: if the tool could not be loaded because a module is missing.
    """
    worker_error = reply.error
    assert worker_error is not None
    if worker_error.type in (NO_REPLY, BAD_REPLY):
        return error(worker_error.message, finished=reply.finished)
    if worker_error.type == DEPENDENCY_MISSING:
        hint = "Install the module for the interpreter that runs the tool."
        raise NotReadyError(worker_error.message, code="dependency_missing", hint=hint)
    _log.info(
        "tool_raised", tool=str(tool), type=worker_error.type, traceback=worker_error.traceback
    )
    log = reply.finished.log() or None
    return error(worker_error.message or worker_error.type, type=worker_error.type, log=log)


# --- Calls


_CHILD = "nexus_tools.bridges.worker.child"


async def call_worker_in_scratch(
    host: BridgeHost,
    module: str,
    request: Mapping[str, Any],
    limits: ProcessLimits,
    confinement: Confinement,
) -> WorkerReply:
    """Call a module as `ask` does, in a temporary scratch directory with a tool's environment."""
    async with ScratchDirectory(host.scratch) as scratch:
        return await ask(
            host,
            module,
            request,
            scratch=scratch,
            limits=limits,
            environment=environment_of(host, scratch=scratch),
            confinement=confinement,
        )


async def ask(
    host: BridgeHost,
    module: str,
    request: Mapping[str, Any],
    *,
    scratch: ScratchDirectory,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    confinement: Confinement,
) -> WorkerReply:
    """Call `reply(request)` of `module` in a new interpreter, and wait for its JSON value.

    `module` is in this package, for example `nexus_tools.bridges.nora.child`. The module's parent
    packages are not executed. The module runs isolated in `host.python`, so it must need only the
    standard library. The working directory is the workspace, if the tool has a workspace. The
    module's output goes to the log, and standard input is empty.

    The reply reports every failure of the module. The function itself raises only the errors of
    `run` for an interpreter that cannot start.
    """
    finished = await run(
        [str(host.python.absolute()), "-I", "-B", standalone.__file__, _CHILD, module],
        scratch=scratch,
        environment=environment,
        limits=limits,
        confinement=confinement,
        directory=confinement.workspace,
        input=json.dumps(dict(request), allow_nan=False).encode(),
        takes_reply=True,
    )
    return WorkerReply.of(finished)
