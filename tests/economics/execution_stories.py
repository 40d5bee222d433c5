"""Random executions with parties who play by all kinds of strategies; the rules and the chain play
the same."""

import os
from dataclasses import dataclass, replace
from enum import Enum, auto
from random import Random

from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import Status, plan_of, structure_of
from tests.economics.execution_rules import Fees, RuledExecution
from tests.workflow.naive_interpreter import FAILED
from tests.workflow.random_documents import grown, outcome_of, strewn

PLAIN, SIGNED = "xyz.example.laws.plain@1", "xyz.example.laws.signed@1"
DOCUMENTS = int(os.environ.get("NEXUS_TOOLS_DOCUMENTS", "60"))
"""So many documents are played by the rules, and a twentieth of them on the chain."""
FIRST = int(os.environ.get("NEXUS_TOOLS_FIRST_DOCUMENT", "0"))
MOST_CLOSINGS = 40
SIZES = (0, 10, 1_000, 8_000, 16_000, 20_000, 32_000)
"""Sizes of the two values of an answer, which has 65 536 bytes at most."""


class OwnerPlay(Enum):
    """What the owner of an execution does."""

    HONEST = auto()
    CANCELS = auto()
    """It cancels in the middle."""
    STINTS = auto()
    """It allows few steps."""
    RAISES = auto()
    """It raises the timeout of the tools beyond what the execution consents to."""


class LeaderPlay(Enum):
    """What a leader does with the runs that it may close."""

    HONEST = auto()
    FAILS = auto()
    SILENT = auto()
    """It closes nothing; a stranger goes on once that has expired."""
    ADVANCES_ALONE = auto()
    """It closes, advances and requests each in a transaction of its own."""
    MILKS = auto()
    """It fails all attempts but the last one."""


class ToolPlay(Enum):
    """What a tool responds."""

    ANSWERS = auto()
    """It always does, if in a variant that leads nowhere."""
    FAILS = auto()
    LARGE = auto()
    LISTS = auto()
    """Lists of which the elements are lists, or long."""


@dataclass(frozen=True)
class Story:
    """A document, its entry values, and how everybody plays."""

    seed: int
    document: object
    plan: object
    owner: OwnerPlay
    leader: LeaderPlay
    tool: ToolPlay

    def of(self, **plays):
        """The same story, in which some play otherwise."""
        return replace(self, **plays)

    @property
    def max_steps(self):
        """To how many steps the owner consents."""
        few = Random(f"steps {self.seed}").randint(1, 6)
        return few if self.owner is OwnerPlay.STINTS else 1_000

    @property
    def values(self):
        """The entry values by vertex and port."""
        chance = Random(f"values {self.seed}")
        vertices = self.plan.vertices.items()
        found = {
            name: {
                port: "x" * chance.choice((1, 100, 2_000))
                for port in sorted(vertex.entries - vertex.constants)
            }
            for name, vertex in vertices
        }
        return {name: ports for name, ports in found.items() if ports}

    def signs(self, vertex):
        """Whether the tool of a vertex signs."""
        return self.plan.vertices[vertex].vertex.fqn == SIGNED

    def ruled(self, fees=None):
        """This execution by the rules, which has not begun."""
        return RuledExecution(self.document, self.plan, self.signs, fees or Fees())

    def response(self, run, attempt):
        """What the tool responds."""
        variant, ports = outcome_of(self.document, self.seed)(run.vertex, run.path, attempt)
        chance = Random(f"response {self.seed} {run} {attempt}")
        if variant == FAILED and self.tool is ToolPlay.ANSWERS:
            return Answer("dead", {})
        if variant == FAILED or self.tool is ToolPlay.FAILS:
            return Failure(FailureReason.UNREACHABLE, "x" * chance.choice((0, 20, 200)))
        return Answer(variant, {port: self._value(value, chance) for port, value in ports.items()})

    def _value(self, value, chance):
        length = chance.choice((0, 1, 2, 8)) if isinstance(value, list) else None
        match self.tool:
            case ToolPlay.LARGE if length is None:
                return "x" * chance.choice(SIZES)
            case ToolPlay.LISTS:
                inner = ["x" * chance.choice((0, 1, 30, 300))] * chance.choice((0, 1, 5, 40))
                return inner if length is None else [inner] * min(length, 2)
        return value if length is None else ["x" * chance.choice((1, 50))] * length

    def outcome(self, run, attempt):
        """What the leader closes a run with."""
        may_retry = attempt < self.plan.vertices[run.vertex].vertex.attempts
        if self.leader is LeaderPlay.FAILS or (self.leader is LeaderPlay.MILKS and may_retry):
            return Failure(FailureReason.UNREACHABLE, "")
        return self.response(run, attempt)


def story_of(seed, attempts=None, **plays):
    """The story of a seed, in which parties may play as is given, and each run may have so many
    attempts; None of an unsound one."""
    chance = Random(f"story {seed}")
    document = (grown, strewn)[seed % 2](seed)
    vertices = (
        replace(
            each,
            fqn=chance.choice((PLAIN, SIGNED)),
            attempts=attempts or chance.choice((1, 1, 2, 4)),
        )
        for each in document.vertices
    )
    document = replace(document, vertices=tuple(vertices))
    if structure_of(document).problems:
        return None
    drawn = {
        "owner": chance.choice([*OwnerPlay]),
        "leader": chance.choice([*LeaderPlay]),
        "tool": chance.choice([*ToolPlay]),
    }
    return Story(seed, document, plan_of(document), **(drawn | plays))


def stories(count=DOCUMENTS, **options):
    """The first so many stories."""
    seed = FIRST
    while count:
        seed += 1
        story = story_of(seed, **options)
        if story is not None:
            count -= 1
            yield story


async def play(story, *executions):
    """Play a story in all of these executions beside each other; the first one is by the rules."""
    rules, chance = executions[0], Random(f"play {story.seed}")
    goes_on = story.leader is not LeaderPlay.ADVANCES_ALONE
    await each_one(executions, "take")
    for closing in range(MOST_CLOSINGS):
        if story.owner is OwnerPlay.CANCELS and closing == 1 and not rules.semantics.is_over:
            await each_one(executions, "stop", Status.CANCELLED)
        if story.owner is OwnerPlay.RAISES and closing == 1:
            await each_one(executions, "raise_timeouts")
        if not rules.requests:
            break
        run = chance.choice(sorted(rules.requests))
        if story.leader is LeaderPlay.SILENT:
            await each_one(executions, "expire_all")
            await each_one(executions, "advance_expired", run)
        else:
            outcome = story.outcome(run, rules.requests[run][1])
            await each_one(executions, "close", run, outcome, goes_on=goes_on)
        due = rules.due()[:8]
        if due:
            await each_one(executions, "take", due)


async def each_one(executions, verb, *arguments, **options):
    """Do the same in all executions, by the rules first."""
    for execution in executions:
        waits = getattr(execution, verb)(*arguments, **options)
        if waits is not None and hasattr(waits, "__await__"):
            await waits
