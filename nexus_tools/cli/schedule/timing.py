"""The options for the times and events of a schedule."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import DURATION
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.workflows.timing import Timing

_OPTIONS = (
    click.option(
        "--every", type=DURATION, help="Interval between executions, for example 1h. Minimum: 60s."
    ),
    click.option(
        "--cron",
        metavar="EXPR",
        help="Cron expression, for example '0 9 * * mon-fri' or @daily. Plans the next 256 times.",
    ),
    click.option(
        "--at",
        "times",
        multiple=True,
        metavar="TIME",
        help="Planned time, for example 2026-12-24T18:00Z. May be repeated.",
    ),
    click.option(
        "--on-event",
        metavar="TYPE",
        help="Type of the Move event that starts an execution: PACKAGE::MODULE::NAME. Leaders"
        " report the events.",
    ),
    click.option(
        "--start",
        metavar="TIME",
        help="First planned time of --every. Default: one interval from now.",
    ),
    click.option("--until", metavar="TIME", help="Last planned time of --every or --cron."),
    click.option(
        "--time-zone",
        metavar="NAME",
        help="Time zone of --cron, for example Europe/Berlin. Default: UTC.",
    ),
    click.option(
        "--max-delay",
        type=DURATION,
        help="Maximum delay of a planned execution. After the delay, the execution is skipped."
        " Minimum: 10s.",
    ),
    click.option(
        "--pause-after-event",
        type=DURATION,
        default="10s",
        show_default=True,
        help="Time after an event during which further events are ignored. Minimum: 10s.",
    ),
    click.option(
        "--max-per-day",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        help="Maximum number of executions that events start per day (UTC).",
    ),
)


MAX_MS = 2**64 - 1
"""The maximum timestamp on chain, in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The values of the timing options."""

    every: int | None
    cron: str | None
    times: tuple[str, ...]
    on_event: str | None
    start: str | None
    until: str | None
    time_zone: str | None
    max_delay: int | None
    pause_after_event: int
    max_per_day: int

    @property
    def count(self) -> int:
        """The number of mutually exclusive options that are set."""
        given = self.every, self.cron, self.times or None, self.on_event
        return sum(text is not None for text in given)

    def check(self) -> None:
        """Check the options before reading from the chain.

        Raises `timing_missing`, `time_invalid`, `type_invalid`, and the errors of `cron_times`.
        """
        from nexus_tools.sui.types.type_tag import parse_struct_tag

        if self.count != 1:
            raise UsageError(
                "timing_missing", "expected exactly one of --every, --cron, --at and --on-event"
            )
        if self.start and self.every is None:
            raise UsageError("timing_missing", "--start needs --every")
        if self.until and self.every is None and self.cron is None:
            raise UsageError("timing_missing", "--until needs --every or --cron")
        if self.time_zone and self.cron is None:
            raise UsageError("timing_missing", "--time-zone needs --cron")
        if self.on_event is not None:
            parse_struct_tag(self.on_event)
        if self.max_delay is not None and self.on_event is not None:
            raise UsageError("timing_missing", "--max-delay needs --every, --cron or --at")
        self.timing(0)

    def timing(self, now_ms: int) -> "Timing":
        """Return the timing of the options for the current time `now_ms`.

        Raises `time_passed` and the errors of `check`.
        """
        from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing

        until_ms = parse_time(self.until) if self.until else None
        if self.every is not None:
            next_at_ms = min(now_ms + self.every, MAX_MS)  # the chain rejects longer intervals
            first_at_ms = parse_future_time(self.start, now_ms) if self.start else next_at_ms
            return Timing(Plan.Every(self.every, first_at_ms, until_ms), self.max_delay)
        if self.on_event is not None:
            plan = Plan.OnEvent(self.on_event, self.pause_after_event, self.max_per_day)
            return Timing(plan, None)
        return Timing(Plan.At(self._times(now_ms, until_ms)), self.max_delay)

    def _times(self, now_ms: int, until_ms: int | None) -> tuple[int, ...]:
        from nexus_tools.registry import cron_times

        if self.cron is not None:
            return cron_times(self.cron, now_ms, until_ms=until_ms, zone=self.time_zone or "UTC")
        return tuple(sorted({parse_future_time(time, now_ms) for time in self.times}))


def timing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command with the timing options to receive a `When` as `when`."""

    @functools.wraps(command)
    def gathering(*args: Any, **options: Any) -> Any:
        when = When(**{field.name: options.pop(field.name) for field in fields(When)})
        return command(*args, when=when, **options)

    decorated: Callable[..., Any] = gathering
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def parse_future_time(text: str, now_ms: int) -> int:
    """Parse a future time into ms since 1970. Raises `time_invalid` or `time_passed`."""
    time_ms = parse_time(text)
    if time_ms < now_ms:
        raise UsageError(
            "time_passed",
            f"{text} is in the past: it is now {units.utc(now_ms)}",
            hint="Pass a future time, or run `nexus-tools workflow run` to start immediately.",
        )
    return time_ms


def parse_time(text: str) -> int:
    """Parse a time with its UTC offset into ms since 1970. Raises `time_invalid`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _invalid(f"{text[:80]!r} is not a valid time") from None
    if time.tzinfo is None:
        raise _invalid(f"{text[:80]!r} has no UTC offset")
    time_ms = round(time.timestamp() * 1000)
    if time_ms < 0:
        raise _invalid(f"{text[:80]!r} is before 1970")
    return time_ms


def _invalid(message: str) -> UsageError:
    hint = "Write a time such as 2026-11-28T09:00Z or 2026-11-28T10:00+01:00."
    return UsageError("time_invalid", message, hint=hint)
