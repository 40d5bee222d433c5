"""Random schedules whose keepers, owners and leaders follow random strategies."""

from dataclasses import dataclass
from enum import Enum, auto
from random import Random

from tests.economics.execution_stories import (
    DOCUMENTS,
    FIRST,
    OwnerPlay,
    each_one,
    end,
    play,
    story_of,
)
from tests.economics.fee_rules import Fees
from tests.economics.schedule_rules import (
    LAST_CURSOR,
    WINDOW_MS,
    PlannedTimes,
    RuledKeeping,
    RuledOrder,
)

HOUR_MS = 3_600_000
OCCASIONS = 5
START_MS = 20_000 * 24 * HOUR_MS
"""The time at which a story starts by the rules: the start of a UTC day."""


class KeeperPlay(Enum):
    """A strategy of the account that starts executions."""

    FIRST = auto()
    """A worker of the first leader."""
    BACKUP = auto()
    """A worker of the second leader, which has to wait."""
    ANYONE = auto()
    """An account that no leader knows, once all windows are over."""
    EAGER = auto()
    """An account that no leader knows, which tries before its time, too."""
    REPEATS = auto()
    """A worker of the first leader that triggers each schedule several times at once."""


class SenderPlay(Enum):
    """A strategy of the owner of the schedules."""

    HONEST = auto()
    PAUSES = auto()
    """It pauses them, and resumes them later."""
    STOPS = auto()
    """It cancels them while executions run."""
    COLLECTS = auto()
    """It collects what has ended itself."""


class EventPlay(Enum):
    """A strategy of a leader that reports events."""

    TRUE = auto()
    FALSE = auto()
    """It reports an event again and again, also before the pause is over."""
    OLD = auto()
    """It reports the same event twice."""
    FUTURE = auto()
    """It reports an event ahead of the chain; the owner resets the cursor later."""


@dataclass(frozen=True)
class ScheduleStory:
    """Schedules of one workflow, and the strategies of all parties."""

    seed: int
    story: object
    keeper: KeeperPlay
    owner: SenderPlay
    events: EventPlay | None
    schedules: int

    @property
    def leaders(self):
        """The number of leaders that the schedules name."""
        return 2 if self.keeper is KeeperPlay.BACKUP else 1 + self.seed % 2

    @property
    def place(self):
        """The place of the keeper's window."""
        if self.events is not None and self.keeper is not KeeperPlay.BACKUP:
            return 0  # Only leaders report events.
        places = {KeeperPlay.FIRST: 0, KeeperPlay.REPEATS: 0, KeeperPlay.BACKUP: 1}
        return places.get(self.keeper, self.leaders)

    def orders(self, fees, now_ms):
        """Return the terms that the owner accepts."""
        return [self._order(number, fees, now_ms) for number in range(self.schedules)]

    def _order(self, number, fees, now_ms):
        chance = Random(f"order {self.seed} {number}")
        terms = self.story.terms(fees) | {"duration_ms": chance.choice((HOUR_MS, 3 * HOUR_MS))}
        funds_per_execution_mist = self.story.estimate(fees).recommended_mist
        terms["funds_mist"] = chance.choice(
            (funds_per_execution_mist, funds_per_execution_mist, funds_per_execution_mist // 2)
        )
        begun = chance.choice((2, OCCASIONS + 1))
        return RuledOrder(
            self.story,
            self._timing(chance, now_ms),
            terms,
            begun * (terms["funds_mist"] + 100_000_000),
            chance.choice((0, 500_000)),
            self.leaders,
            overlaps=chance.random() < 0.5,
            max_failures=chance.choice((0, 1, 2)),
            max_executions=chance.choice((None, None, 2)),
        )

    def _timing(self, chance, now_ms):
        if self.events is not None:
            return PlannedTimes(pause_ms=WINDOW_MS, max_per_day=chance.choice((2, 100)))
        if chance.random() < 0.5:
            times = sorted(chance.sample(range(1, 200), 20))
            return PlannedTimes(tuple(now_ms + time * HOUR_MS for time in times))
        first_ms, interval_ms = now_ms + HOUR_MS, chance.choice((HOUR_MS, 7 * HOUR_MS))
        times = tuple(first_ms + index * interval_ms for index in range(400))
        return PlannedTimes(times, interval_ms)

    def ruled(self, fees=None, now_ms=START_MS):
        """Return these schedules by the rules."""
        fees = fees or Fees()
        return RuledKeeping(self.orders(fees, now_ms), fees, now_ms)


def schedule_story_of(seed, **plays):
    """Return the story of a seed, or None if its document is invalid."""
    story = story_of(seed, owner=OwnerPlay.HONEST)
    if story is None or not any(vertex.entries for vertex in story.plan.vertices.values()):
        return None
    chance = Random(f"schedules {seed}")
    drawn = {
        "keeper": chance.choice([*KeeperPlay]),
        "owner": chance.choice([*SenderPlay]),
        "events": chance.choice([None, None, *EventPlay]),
        "schedules": chance.choice((1, 1, 2, 3)),
    }
    return ScheduleStory(seed, story, **(drawn | plays))


def schedule_stories(count=DOCUMENTS // 2, **plays):
    """Yield the first stories, half as many as for executions."""
    seed = FIRST
    while count:
        seed += 1
        story = schedule_story_of(seed, **plays)
        if story is not None:
            count -= 1
            yield story


async def play_schedules(story, *keepings):
    """Play a story in all of these worlds in parallel; the first one follows the rules."""
    rules, chance = keepings[0], Random(f"keep {story.seed}")
    numbers = tuple(range(story.schedules))
    await each_one(keepings, "begin")
    for occasion in range(OCCASIONS):
        await each_one(keepings, "pass_time", chance.choice((HOUR_MS, 3 * HOUR_MS, 8 * HOUR_MS)))
        await _own(story, occasion, keepings)
        await _keep(story, occasion, numbers, keepings)
        for where in rules.running():
            pair = [keeping.execution(*where) for keeping in keepings]
            await play(story.story, *pair, most_closings=chance.choice((0, 1, 6)))
            if chance.random() < 0.3:
                await end(story.story, *pair)
    await end_schedules(story, *keepings)


async def end_schedules(story, *keepings):
    """Cancel all schedules, end all executions, and collect leftover funds."""
    rules = keepings[0]
    for number, schedule in enumerate(rules.schedules):
        if not schedule.is_cancelled:
            await each_one(keepings, "change", number, "cancel")
    for where in rules.running():
        await end(story.story, *[keeping.execution(*where) for keeping in keepings])
    for number, schedule in enumerate(rules.schedules):
        if schedule.collectable():
            await each_one(keepings, "collect", number)


async def _own(story, occasion, keepings):
    """Let the owner follow its strategy."""
    rules = keepings[0]
    for number, schedule in enumerate(rules.schedules):
        verb = None
        if schedule.is_cancelled:
            continue
        if story.owner is SenderPlay.STOPS and occasion == 3:
            verb = "cancel"
        elif story.owner is SenderPlay.PAUSES and occasion == 1 and not schedule.is_paused:
            verb = "pause"
        elif occasion == 3 and schedule.is_paused:
            verb = "resume"
        elif story.events is EventPlay.FUTURE and occasion == 2:
            verb = "reset_cursor"
        if verb:
            await each_one(keepings, "change", number, verb)
        if story.owner is SenderPlay.COLLECTS and schedule.collectable():
            await each_one(keepings, "collect", number)


async def _keep(story, occasion, numbers, keepings):
    """Let the keeper trigger the schedules; some keepers also try too early."""
    cursor = (occasion + 1, 0, 0)
    if story.events is EventPlay.FUTURE and occasion < 2:
        cursor = LAST_CURSOR
    if story.keeper in (KeeperPlay.EAGER, KeeperPlay.BACKUP):
        await each_one(keepings, "trigger", numbers, story.place, cursor)
    await each_one(keepings, "pass_time", WINDOW_MS * story.place)
    if story.keeper is KeeperPlay.REPEATS:
        numbers *= 3
    await each_one(keepings, "trigger", numbers, story.place, cursor)
    if story.events is EventPlay.OLD:
        await each_one(keepings, "pass_time", WINDOW_MS)
        await each_one(keepings, "trigger", numbers, story.place, cursor)
    if story.events is EventPlay.FALSE:
        for more in range(3):
            await each_one(keepings, "trigger", numbers, story.place, (occasion + 1, 1, more))
            await each_one(keepings, "pass_time", WINDOW_MS * (1 + story.place))
