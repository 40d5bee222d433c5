"""When a schedule begins something, as options say it."""

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
    click.option("--every", type=DURATION, help="Again and again, as in 1h; 60s at least."),
    click.option(
        "--cron",
        metavar="EXPR",
        help="The next 256 times of a cron expression: '0 9 * * mon-fri' or @daily.",
    ),
    click.option(
        "--at",
        "times",
        multiple=True,
        metavar="TIME",
        help="At a time, as 2026-12-24T18:00Z; may be repeated.",
    ),
    click.option(
        "--on-event",
        metavar="TYPE",
        help="Whenever PACKAGE::MODULE::NAME was told, say leaders.",
    ),
    click.option(
        "--first", metavar="TIME", help="First time of --every; in one interval by default."
    ),
    click.option("--until", metavar="TIME", help="The last time of --every or --cron."),
    click.option(
        "--time-zone", metavar="NAME", help="Of --cron, as Europe/Berlin; UTC by default."
    ),
    click.option(
        "--max-late",
        type=DURATION,
        help="Skip an execution that cannot start this long after its time; at least 10s.",
    ),
    click.option(
        "--pause-after-event",
        type=DURATION,
        default="10s",
        show_default=True,
        help="Ignore further events for this long; at least 10s.",
    ),
    click.option(
        "--max-per-day",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        help="Maximum executions that events start per day (UTC).",
    ),
)


MAX_MS = 2**64 - 1
"""The last millisecond that the chain counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The options, as they were given."""

    every: int | None
    cron: str | None
    times: tuple[str, ...]
    on_event: str | None
    first: str | None
    until: str | None
    time_zone: str | None
    max_late: int | None
    pause_after_event: int
    max_per_day: int

    @property
    def count(self) -> int:
        """How many of the options that exclude each other were given."""
        given = self.every, self.cron, self.times or None, self.on_event
        return sum(each is not None for each in given)

    def check(self) -> None:
        """Check the options before anything is read from the chain.

        Raises `timing_missing`, `time_invalid`, `type_invalid`, and as `cron_times` does.
        """
        from nexus_tools.sui.types.type_tag import parse_struct_tag

        if self.count != 1:
            raise UsageError("timing_missing", "give one of --every, --cron, --at and --on-event")
        if self.first and self.every is None:
            raise UsageError("timing_missing", "--first goes with --every")
        if self.until and self.every is None and self.cron is None:
            raise UsageError("timing_missing", "--until goes with --every or --cron")
        if self.time_zone and self.cron is None:
            raise UsageError("timing_missing", "--time-zone goes with --cron")
        if self.on_event is not None:
            parse_struct_tag(self.on_event)
        if self.max_late is not None and self.on_event is not None:
            raise UsageError("timing_missing", "--max-late goes with --every, --cron or --at")
        self.timing(0)

    def timing(self, now_ms: int) -> "Timing":
        """Return the timing that the options mean now. Raises `time_passed`, and as `check`."""
        from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing

        until_ms = time_of(self.until) if self.until else None
        if self.every is not None:
            next_at_ms = min(now_ms + self.every, MAX_MS)  # the chain refuses so long an interval
            first_at_ms = time_ahead(self.first, now_ms) if self.first else next_at_ms
            return Timing(Plan.Every(self.every, first_at_ms, until_ms), self.max_late)
        if self.on_event is not None:
            plan = Plan.OnEvent(self.on_event, self.pause_after_event, self.max_per_day)
            return Timing(plan, None)
        return Timing(Plan.At(self._times(now_ms, until_ms)), self.max_late)

    def _times(self, now_ms: int, until_ms: int | None) -> tuple[int, ...]:
        from nexus_tools.registry import cron_times

        if self.cron is not None:
            return cron_times(self.cron, now_ms, until_ms=until_ms, zone=self.time_zone or "UTC")
        return tuple(sorted({time_ahead(each, now_ms) for each in self.times}))


def timed(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of when; the command gets them as `when`."""

    @functools.wraps(command)
    def gathering(*args: Any, **options: Any) -> Any:
        when = When(**{each.name: options.pop(each.name) for each in fields(When)})
        return command(*args, when=when, **options)

    decorated: Callable[..., Any] = gathering
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def time_ahead(text: str, now_ms: int) -> int:
    """Return the ms since 1970 of a planned time. Raises `time_invalid` or `time_passed`."""
    time_ms = time_of(text)
    if time_ms < now_ms:
        raise UsageError(
            "time_passed",
            f"{text} has passed: it is {units.utc(now_ms)}",
            hint="give a time that is ahead; `nexus-tools workflow run` executes at once",
        )
    return time_ms


def time_of(text: str) -> int:
    """Return the ms since 1970 of a time with its offset from UTC. Raises `time_invalid`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _invalid(f"{text[:80]!r} is not a valid time") from None
    if time.tzinfo is None:
        raise _invalid(f"{text[:80]!r} has no offset: it is another time in each time zone")
    time_ms = round(time.timestamp() * 1000)
    if time_ms < 0:
        raise _invalid(f"{text[:80]!r} is before 1970, when the time of the chain begins")
    return time_ms


def _invalid(message: str) -> UsageError:
    hint = "write 2026-11-28T09:00Z, or with another offset: 2026-11-28T10:00+01:00"
    return UsageError("time_invalid", message, hint=hint)
