"""Structured logging, which is silent until the program configures structlog.

Packages use `get_logger` because structlog itself prints to stdout until it is configured. Our own
programs call `log_to_stderr`.
"""

import os
import sys
from pathlib import Path
from textwrap import indent
from traceback import extract_tb
from typing import Any

from nexus_tools.sui.support.untrusted_text import many_lines, one_line

_MULTILINE_KEYS = ("exception", "stack")


class Logger:
    """A logger that passes events to structlog if the program has configured structlog."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def bind(self, **values: Any) -> Any:
        """Return a structlog logger that adds `values` to its events.

        The logger uses the current configuration. Reading the configuration takes time, so use the
        same logger for many events.
        """
        # Do not import structlog, because the import is slow. A program that configured structlog
        # has already imported it.
        structlog = sys.modules.get("structlog")
        if structlog is None or not structlog.is_configured():
            return _SILENT
        return structlog.get_logger(self._name).bind(**values)

    def debug(self, event: str, **values: Any) -> None:
        """Log an event for developers."""
        self.bind().debug(event, **values)

    def info(self, event: str, **values: Any) -> None:
        """Log a normal event."""
        self.bind().info(event, **values)

    def warning(self, event: str, **values: Any) -> None:
        """Log an event that may need an operator's action."""
        self.bind().warning(event, **values)

    def error(self, event: str, **values: Any) -> None:
        """Log a failure."""
        self.bind().error(event, **values)

    def exception(self, event: str, **values: Any) -> None:
        """Log a failure with the exception that the caller is handling."""
        self.bind().exception(event, **values)


class _Silent:
    """A logger that discards all events."""

    def debug(self, event: str, **values: Any) -> None:
        """Discard an event."""

    info = warning = error = exception = debug


_SILENT = _Silent()


def get_logger(name: str) -> Logger:
    """Return the logger of a package such as `nexus_tools.tool_server`."""
    return Logger(name)


def error_summary(error: BaseException) -> str:
    """Return an exception's type and location, but not its message, which may contain a secret."""
    frames = extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place


def colors_disabled() -> bool:
    """Return whether the user has disabled colors with `NO_COLOR` (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def is_json(form: str | None) -> bool:
    """Return whether events are written as JSON.

    By default, events are written as JSON if stderr is not a terminal.
    """
    return form == "json" or (form is None and not sys.stderr.isatty())


def log_to_stderr(form: str | None = "json", *, again: bool = True, details: bool = False) -> None:
    """Write events to stderr as `text` or `json`. None means text on a terminal, or else JSON.

    If `details` is True, the output includes events for developers. If `again` is False and the
    program has already configured structlog, this function does nothing.
    """
    import logging  # noqa: PLC0415 - not needed only to log

    import structlog  # noqa: PLC0415

    if structlog.is_configured() and not again:
        return
    # Tracebacks omit local variables, which may contain keys and untrusted input.
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    renderers: list[Any] = [
        structlog.processors.ExceptionRenderer(tracebacks),
        structlog.processors.JSONRenderer(),
    ]
    if not is_json(form):
        colors = sys.stderr.isatty() and not colors_disabled()
        plain = structlog.dev.plain_traceback
        renderers = [
            _cause_below,
            # Format exceptions first, because their messages may quote untrusted text.
            structlog.processors.format_exc_info,
            _displayable,
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain),
        ]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.DEBUG if details else logging.INFO
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _displayable(_: Any, __: str, event: Any) -> Any:
    """Replace control characters in untrusted text, for output on a terminal.

    A prefix marks the lines of a traceback, because the message of an exception can have several
    lines, which could look like events. JSON output does not need this function, because JSON
    escapes control characters.
    """
    for key, value in event.items():
        if isinstance(value, str):
            is_multiline = key in _MULTILINE_KEYS
            event[key] = indent(many_lines(value), "  | ") if is_multiline else one_line(value)
        elif not isinstance(value, int | float | None):
            event[key] = _DisplayableValue(value)
    return event


class _DisplayableValue:
    """A value whose representation contains no invisible or control characters."""

    def __init__(self, value: object) -> None:
        self._text = one_line(repr(value))

    def __repr__(self) -> str:
        """Return the cleaned representation of the value."""
        return self._text


def _cause_below(_: Any, __: str, event: Any) -> Any:
    """Move the traceback text of an event, `cause`, to a field that is printed below the event."""
    if "cause" in event:
        event["exception"] = event.pop("cause").rstrip()
    return event
