"""Structured logging: silent until the program configures an output.

Packages log with `get_logger`, which is silent until structlog is configured. Unconfigured
structlog would print to stdout. Our own processes call `log_to_stderr`.
"""

import os
import sys
from pathlib import Path
from traceback import extract_tb
from typing import Any

from nexus_tools.sui.support.untrusted_text import many_lines, one_line

_MULTILINE_KEYS = ("exception", "stack")


class Logger:
    """A logger that passes events to structlog, once a program has configured it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def bind(self, **values: Any) -> Any:
        """Return a logger with structlog's current configuration, whose events have `values`.

        Reading the configuration costs time at each event, so keep the result for many events.
        """
        # The import would be slow. A program that configured structlog has already imported it.
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
        """Log an event that an operator may have to act on."""
        self.bind().warning(event, **values)

    def error(self, event: str, **values: Any) -> None:
        """Log a failure."""
        self.bind().error(event, **values)

    def exception(self, event: str, **values: Any) -> None:
        """Log a failure with the exception that is being handled."""
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
    """Return an exception's type and location without its message, which may contain a secret."""
    frames = extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place


def colors_disabled() -> bool:
    """Return whether the user wants no colors in printed output, see https://no-color.org."""
    return bool(os.environ.get("NO_COLOR"))


def is_json(form: str | None) -> bool:
    """Return whether events are written as JSON: by default if stderr is not a terminal."""
    return form == "json" or (form is None and not sys.stderr.isatty())


def log_to_stderr(form: str | None = "json", *, again: bool = True, details: bool = False) -> None:
    """Write events to stderr as `text` or `json`. None means text on a terminal, else JSON.

    `details` includes events for developers. With `again=False`, a program that has already
    configured structlog keeps its configuration.
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
    """Escape control characters in untrusted text for a terminal.

    JSON escapes them by itself.
    """
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = many_lines(value) if key in _MULTILINE_KEYS else one_line(value)
    return event


def _cause_below(_: Any, __: str, event: Any) -> Any:
    """Print a traceback that an event has as text below the event, line by line."""
    if "cause" in event:
        event["exception"] = event.pop("cause").rstrip()
    return event
