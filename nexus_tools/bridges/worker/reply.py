"""What comes back from a worker: a JSON value, or the exception that its code ended with."""

from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.sandbox import Finished
from nexus_tools.errors import ValidationError
from nexus_tools.tool import parse_json

NO_REPLY = "NoReply"
BAD_REPLY = "BadReply"


@dataclass(frozen=True, slots=True)
class WorkerError:
    """Why there is no value: the name of the exception's class, and its message.

    `type` is `NoReply` for a worker that ended, or was stopped, before it answered, `BadReply` for
    something else than an answer in its place. `traceback` is the end of the exception's.
    """

    type: str
    message: str
    traceback: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The `value` that a module's `answer` returned, or the `error`; and how its process ended."""

    value: Any | None
    error: WorkerError | None
    finished: Finished

    @classmethod
    def of(cls, finished: Finished) -> "WorkerReply":
        """The reply of a run that is over. A limit that it passed counts more than its answer."""
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
        return cls(None, WorkerError(BAD_REPLY, "the reply is no answer of a worker"), finished)
