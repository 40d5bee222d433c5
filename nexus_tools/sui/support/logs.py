"""Where events are told: nowhere, until the program that runs says where.

Rooms log by `get_logger`, which is silent while nobody has configured structlog; structlog alone
would print to stdout. Processes of ours call `log_to_stderr`.
"""

import os
import sys
from pathlib import Path
from traceback import extract_tb
from typing import Any

from nexus_tools.sui.support.untrusted_text import many_lines, one_line

_OF_SEVERAL_LINES = ("exception", "stack")


class Logger:
    """Hands events to structlog, once a program has configured it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def bind(self, **values: Any) -> Any:
        """A logger as structlog is configured now, whose events have `values`.

        To find out how it is configured costs time at each event.
        """
        # Importing it takes longer than much that is logged; who configured it has imported it.
        structlog = sys.modules.get("structlog")
        if structlog is None or not structlog.is_configured():
            return _SILENT
        return structlog.get_logger(self._name).bind(**values)

    def debug(self, event: str, **values: Any) -> None:
        """Tell what only a developer wants to know."""
        self.bind().debug(event, **values)

    def info(self, event: str, **values: Any) -> None:
        """Tell what happened."""
        self.bind().info(event, **values)

    def warning(self, event: str, **values: Any) -> None:
        """Tell of what an operator may have to look after."""
        self.bind().warning(event, **values)

    def error(self, event: str, **values: Any) -> None:
        """Tell of what broke."""
        self.bind().error(event, **values)

    def exception(self, event: str, **values: Any) -> None:
        """Tell of what broke, with the exception that is being handled."""
        self.bind().exception(event, **values)


class _Silent:
    """A logger that tells nobody."""

    def debug(self, event: str, **values: Any) -> None:
        """Nothing."""

    info = warning = error = exception = debug


_SILENT = _Silent()


def get_logger(name: str) -> Logger:
    """The logger of a room, as in `nexus_tools.tool_server`."""
    return Logger(name)


def in_short(error: BaseException) -> str:
    """The kind of an exception and where it was raised; its message may hold a secret."""
    frames = extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place


def refuses_colors() -> bool:
    """Return whether the user wants no colors in printed output, see https://no-color.org."""
    return bool(os.environ.get("NO_COLOR"))


def is_json(form: str | None) -> bool:
    """Whether events are written as JSON; without a form, where no person is watching."""
    return form == "json" or (form is None and not sys.stderr.isatty())


def log_to_stderr(form: str | None = "json", *, again: bool = True, details: bool = False) -> None:
    """Have events written to stderr as `text` or `json`; None is text if a person is watching.

    `details` has those told as well that only matter to a developer. With `again=False` a program
    that has configured structlog already keeps what it has.
    """
    import logging  # noqa: PLC0415 - not for who only logs

    import structlog  # noqa: PLC0415

    if structlog.is_configured() and not again:
        return
    # Without local variables: there are keys and the inputs of strangers among them.
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    rendering: list[Any] = [
        structlog.processors.ExceptionRenderer(tracebacks),
        structlog.processors.JSONRenderer(),
    ]
    if not is_json(form):
        colors = sys.stderr.isatty() and not refuses_colors()
        plain = structlog.dev.plain_traceback
        rendering = [
            _cause_below,
            _displayable,
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain),
        ]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            *rendering,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.DEBUG if details else logging.INFO
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _displayable(_: Any, __: str, event: Any) -> Any:
    """Show a person no character of other people's text that controls the terminal.

    JSON escapes them.
    """
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = many_lines(value) if key in _OF_SEVERAL_LINES else one_line(value)
    return event


def _cause_below(_: Any, __: str, event: Any) -> Any:
    """Let a person read a traceback that an event has as text below the event, line by line."""
    if "cause" in event:
        event["exception"] = event.pop("cause").rstrip()
    return event
