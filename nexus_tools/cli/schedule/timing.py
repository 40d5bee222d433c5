"""When a schedule begins something, as options say it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import DURATION
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.package.move.workflows.timing import Timing

_OPTIONS = (
    click.option("--every", type=DURATION, help="Again and again, as in 1h; 60s at least."),
    click.option(
        "--cron", metavar="EXPR", help="As in '0 9 * * mon-fri': the next 256 times of that."
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
        "--first", metavar="TIME", help="When --every begins; in one interval by default."
    ),
    click.option("--until", metavar="TIME", help="The last time of --every or --cron."),
    click.option(
        "--time-zone", metavar="NAME", help="Of --cron, as Europe/Berlin; UTC by default."
    ),
    click.option(
        "--max-late", type=DURATION, help="Miss what could not begin so long after its time."
    ),
    click.option("--pause-after-event", type=DURATION, default=0, help="Pass over events so long."),
)


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

    def check(self) -> None:
        """Raises `timing_missing`, `time_invalid`, `type_invalid`, and as `cron_times` does."""
        from nexus_tools.sui.type_tag import parse_struct_tag

        given = self.every, self.cron, self.times or None, self.on_event
        if sum(each is not None for each in given) != 1:
            raise UsageError("timing_missing", "give one of --every, --cron, --at and --on-event")
        if self.first and self.every is None:
            raise UsageError("timing_missing", "--first goes with --every")
        if self.until and self.every is None and self.cron is None:
            raise UsageError("timing_missing", "--until goes with --every or --cron")
        if self.time_zone and self.cron is None:
            raise UsageError("timing_missing", "--time-zone goes with --cron")
        if self.on_event is not None:
            parse_struct_tag(self.on_event)
        self.timing(0)

    def timing(self, now_ms: int) -> "Timing":
        """What they mean now. Raises `time_passed`, and as `check` does."""
        from nexus_tools.package.move.workflows.timing import Plan, Timing

        until_ms = _time_ms(self.until) if self.until else None
        if self.every is not None:
            first_at_ms = _time_ms(self.first) if self.first else now_ms + self.every
            return Timing(Plan.Every(self.every, first_at_ms, until_ms), self.max_late)
        if self.on_event is not None:
            return Timing(Plan.OnEvent(self.on_event, self.pause_after_event), None)
        return Timing(Plan.At(self._times(now_ms, until_ms)), self.max_late)

    def _times(self, now_ms: int, until_ms: int | None) -> tuple[int, ...]:
        from nexus_tools.registry import cron_times

        if self.cron is not None:
            return cron_times(self.cron, now_ms, until_ms=until_ms, zone=self.time_zone or "UTC")
        times = {_time_ms(each): each for each in self.times}
        passed = next((text for time_ms, text in times.items() if time_ms < now_ms), None)
        if passed is not None:
            raise UsageError(
                "time_passed",
                f"{passed} has passed: it is {units.utc(now_ms)}",
                hint="what is planned for the past begins at once: `nexus-tools workflow run`",
            )
        return tuple(sorted(times))


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


def _time_ms(text: str) -> int:
    """The ms since 1970 of a time, which says where it is that late. Raises `time_invalid`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _invalid(f"{text[:80]!r} is no time") from None
    if time.tzinfo is None:
        raise _invalid(f"{text[:80]!r} has no offset: it is another time in each time zone")
    return round(time.timestamp() * 1000)


def _invalid(message: str) -> UsageError:
    hint = "write 2026-11-28T09:00Z, or with another offset: 2026-11-28T10:00+01:00"
    return UsageError("time_invalid", message, hint=hint)
