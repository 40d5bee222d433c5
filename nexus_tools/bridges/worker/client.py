"""Asks a module in an interpreter of its own: a value comes back, or what its code ended with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.sandbox import (
    Confinement,
    Finished,
    ProcessLimits,
    Scratch,
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
"""The class of `worker.child` that says: a module is missing, and the tool has not run."""


@dataclass(frozen=True, slots=True)
class WorkerError:
    """Why there is no value: the name of the exception's class, and its message.

    `type` is `NoReply` for a worker that ended, or was stopped, before it replied, `BadReply` for
    something else than a reply in its place. `traceback` is the end of the exception's.
    """

    type: str
    message: str
    traceback: str = field(default="", repr=False, compare=False)

    def hint(self, host: Host) -> str:
        """What the operator may do about it; empty if there is nothing to say."""
        if self.type != ModuleNotFoundError.__name__:
            return ""
        return f"install it for {host.python}, or name another interpreter with --python"


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The `value` that a module's `reply` returned, or the `error`; and how its process ended."""

    value: Any | None
    error: WorkerError | None
    finished: Finished

    @classmethod
    def of(cls, finished: Finished) -> "WorkerReply":
        """The reply of a run that is over. A limit that it passed counts more than what it sent."""
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
        return cls(None, WorkerError(BAD_REPLY, "the reply is none of a worker"), finished)


_log = get_logger("nexus_tools.bridges")


def failure(reply: WorkerReply, tool: object) -> dict[str, Any]:
    """Return the `err` for `reply.error`: the exception's class and text, or the process's exit.

    The traceback names the operator's folders, and outcomes may be public: it stays in the log of
    the server, under the name of the `tool`. Raises `NotReadyError` if the tool could not be loaded
    because a module is missing.
    """
    raised = reply.error
    assert raised is not None
    if raised.type in (NO_REPLY, BAD_REPLY):
        return error(raised.message, finished=reply.finished)
    if raised.type == DEPENDENCY_MISSING:
        hint = "the operator installs it for the interpreter that runs the tool"
        raise NotReadyError(raised.message, code="dependency_missing", hint=hint)
    _log.info("tool_raised", tool=str(tool), type=raised.type, traceback=raised.traceback)
    log = reply.finished.log() or None
    return error(raised.message or raised.type, type=raised.type, log=log)


# --- Asking


_CHILD = "nexus_tools.bridges.worker.child"


async def ask_in_scratch(
    host: Host,
    module: str,
    request: Mapping[str, Any],
    limits: ProcessLimits,
    confinement: Confinement,
) -> WorkerReply:
    """As `ask`, in a scratch directory that is made for it and removed, with what tools get."""
    async with Scratch(host.scratch) as scratch:
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
    host: Host,
    module: str,
    request: Mapping[str, Any],
    *,
    scratch: Scratch,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    confinement: Confinement,
) -> WorkerReply:
    """Call `reply(request)` of `module` in a fresh interpreter, and wait for its JSON value.

    `module` is one of this package, such as `nexus_tools.bridges.nora.child`; of the packages above
    it nothing is executed. It runs in `host.python`, isolated, so that there need be nothing but
    the standard library; in the workspace, if there is one. What it prints goes to the log; its
    standard input is empty.

    Whatever happens in there is in the reply. Raises what `run` raises for a program that cannot
    be started, here the interpreter.
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
