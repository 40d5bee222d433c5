"""Random executions whose parties follow random strategies, for the rules and for the chain."""

import os
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from random import Random

from nexus_tools.contracts import ports_of
from nexus_tools.registry.workflows.limits import PAGE
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import Status, create_plan, find_structure
from tests.economics.execution_rules import MIST, RuledExecution
from tests.economics.fee_rules import Fees, ToolKind
from tests.economics.funds_rules import FundsShortError, estimate
from tests.workflow.naive_interpreter import FAILED
from tests.workflow.random_documents import grown, outcome_of, strewn

PLAIN, SIGNED, CALLED = (f"xyz.example.laws.{name}@1" for name in ("plain", "signed", "called"))
CALL_MIST = 10_000_000
"""The declared gas of the Move function of an on-chain tool."""
KINDS = {
    PLAIN: ToolKind(476),
    SIGNED: ToolKind(511, is_read=True),
    CALLED: ToolKind(478, is_read=True, gas_mist=CALL_MIST),
}
"""The tools of the stories; the bytes of their invocations depend on their FQNs."""
DOCUMENTS = int(os.environ.get("NEXUS_TOOLS_DOCUMENTS", "60"))
"""The number of documents that the rules play; the chain plays a tenth of them."""
FIRST = int(os.environ.get("NEXUS_TOOLS_FIRST_DOCUMENT", "0"))
MOST_CLOSINGS, MOST_LEFT = 40, 12
REFILL_MIST = 100 * MIST
SIZES = (0, 10, 1_000, 8_000, 16_000, 20_000, 32_000)
"""Sizes of the two values of an answer, which has at most 65 536 bytes."""


class OwnerPlay(Enum):
    """A strategy of the owner of an execution."""

    HONEST = auto()
    CANCELS = auto()
    """It cancels in the middle."""
    STINTS = auto()
    """It allows few steps."""
    RAISES = auto()
    """It raises the timeout of the tools beyond what the execution allows."""
    LATE = auto()
    """The time of the execution is over in the middle, and another account expires it."""
    EXACT = auto()
    """It gives the funds that `estimate` asks for."""
    LESS = auto()
    """It gives less, and sometimes refills them."""


class LeaderPlay(Enum):
    """A strategy of a leader for the runs that it may close."""

    HONEST = auto()
    FAILS = auto()
    SILENT = auto()
    """It closes nothing; another account goes on once that has expired."""
    ADVANCES_ALONE = auto()
    """It closes, advances and requests each in a transaction of its own."""
    MILKS = auto()
    """It fails all attempts but the last one."""


class ToolPlay(Enum):
    """A strategy of a tool for its responses."""

    ANSWERS = auto()
    """It always answers, sometimes in a variant that leads nowhere."""
    FAILS = auto()
    LARGE = auto()
    LISTS = auto()
    """Lists of which the elements are lists, or long."""


@dataclass(frozen=True)
class Story:
    """A document, its entry values, and the strategies of all parties."""

    seed: int
    document: object
    plan: object
    owner: OwnerPlay
    leader: LeaderPlay
    tool: ToolPlay

    def of(self, **plays):
        """Return the same story in which some parties play differently."""
        return replace(self, **plays)

    @property
    def key(self):
        """The values that distinguish it from other stories of this seed."""
        attempts = tuple(vertex.attempts for vertex in self.document.vertices)
        return self.seed, attempts, self.owner, self.leader, self.tool

    @property
    def max_steps(self):
        """The number of steps that the owner allows."""
        few = Random(f"steps {self.seed}").randint(1, 6)
        return few if self.owner is OwnerPlay.STINTS else 1_000

    @property
    def max_outcome_bytes(self):
        """The size of outcomes that the owner allows."""
        return Random(f"outcomes {self.seed}").choice((1_000, 20_000, 65_536, 65_536, 65_536))

    @property
    def is_refilled(self):
        """Whether the owner refills insufficient funds."""
        return self.seed % 3 == 0

    def funds_mist(self, fees):
        """Return the funds from the owner."""
        if self.owner not in (OwnerPlay.EXACT, OwnerPlay.LESS):
            return 60 * MIST
        cost = self.estimate(fees)
        if self.owner is OwnerPlay.EXACT:
            return cost.recommended_mist
        return Random(f"funds {self.seed}").randint(0, cost.single_pass_mist)

    def estimate(self, fees):
        """Return the estimate that the owner sees before the start."""
        sizes = {"max_outcome_bytes": self.max_outcome_bytes, "max_steps": self.max_steps}
        return estimate(self.plan, KINDS, fees, **sizes)

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

    def kind_of(self, vertex):
        """Return how the tool of a vertex is settled."""
        return KINDS[self.fqn_of(vertex)]

    def fqn_of(self, vertex):
        """Return the tool of a vertex."""
        return self.plan.vertices[vertex].vertex.fqn

    def ruled(self, fees=None):
        """Return this execution by the rules, before its start."""
        return RuledExecution(self.document, self.plan, self.kind_of, fees or Fees())

    def terms(self, fees):
        """Return the terms of its start."""
        return {
            "max_steps": self.max_steps,
            "funds_mist": self.funds_mist(fees),
            "max_outcome_bytes": self.max_outcome_bytes,
        }

    def response(self, run, attempt):
        """Return the response of the tool."""
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
        """Return the outcome with which the leader closes a run."""
        may_retry = attempt < self.plan.vertices[run.vertex].vertex.attempts
        if self.leader is LeaderPlay.FAILS or (self.leader is LeaderPlay.MILKS and may_retry):
            return Failure(FailureReason.UNREACHABLE, "")
        outcome = self.response(run, attempt)
        if isinstance(outcome, Answer):
            size = len(outcome.variant) + ports_of(outcome.ports).size()
            if size > self.max_outcome_bytes:
                return Failure(FailureReason.OUTPUT_TOO_LARGE, "")
        return outcome


@cache
def _document(seed, attempts):
    """Return a random document and its plan, or None if it is invalid or has several pages."""
    chance = Random(f"story {seed}")
    document = (grown, strewn)[seed % 2](seed)
    vertices = (
        replace(
            vertex,
            fqn=chance.choice((PLAIN, PLAIN, SIGNED, SIGNED, CALLED)),
            attempts=attempts or chance.choice((1, 1, 2, 4)),
        )
        for vertex in document.vertices
    )
    document = replace(document, vertices=tuple(vertices))
    if find_structure(document).problems:
        return None
    plan = create_plan(document)
    is_small = max(len(plan.vertices), len(plan.blocks)) <= PAGE
    return (document, plan) if is_small else None


def story_of(seed, attempts=None, **plays):
    """Return the story of a seed, or None if its document is invalid.

    `plays` sets strategies of parties; `attempts` sets the attempts of each run.
    """
    found = _document(seed, attempts)
    if found is None:
        return None
    chance = Random(f"plays {seed}")
    drawn = {
        "owner": chance.choice([*OwnerPlay, OwnerPlay.HONEST]),
        "leader": chance.choice([*LeaderPlay, LeaderPlay.HONEST, LeaderPlay.HONEST]),
        "tool": chance.choice([*ToolPlay, ToolPlay.ANSWERS]),
    }
    return Story(seed, *found, **(drawn | plays))


def stories(count=DOCUMENTS, **options):
    """Yield the first stories."""
    seed = FIRST
    while count:
        seed += 1
        story = story_of(seed, **options)
        if story is not None:
            count -= 1
            yield story


# --- Play


async def play(story, *executions, most_closings=MOST_CLOSINGS):
    """Play a story in all of these executions in parallel; the first one follows the rules."""
    rules, chance = executions[0], Random(f"play {story.seed}")
    await each_one(executions, "take")
    for closing in range(most_closings):
        if closing == 1:
            await _interfere(story, chance, executions)
        if rules.closed and story.is_refilled and not rules.has_ended:
            await _refill(executions)
        if not rules.requests:
            break
        run = chance.choice(sorted(rules.requests))
        if story.leader is LeaderPlay.SILENT:
            await each_one(executions, "expire_all")
        if run in rules.overdue:
            await each_one(executions, "advance", run, as_leader=False)
        else:
            await _close(story, run, executions)
        due = rules.due()[:8]
        if due:
            await each_one(executions, "take", due)
        if run in rules.requests and run in rules.overdue:
            break  # The funds are insufficient to continue.


async def _interfere(story, chance, executions):
    """Let the owner or the deadline end or change the execution."""
    rules = executions[0]
    if story.owner is OwnerPlay.RAISES:
        await each_one(executions, "raise_timeouts")
    if rules.has_ended:
        return
    if story.owner is OwnerPlay.CANCELS:
        await each_one(executions, "stop", Status.CANCELLED)
    if story.owner is OwnerPlay.LATE:
        await each_one(executions, "pass_deadline")
        if chance.random() < 0.5:  # Otherwise a leader that requests a run notices it.
            await each_one(executions, "expire")


async def _refill(executions):
    """Refill insufficient funds, and continue with closed runs."""
    await each_one(executions, "refill", REFILL_MIST)
    for run in sorted(executions[0].closed):
        await each_one(executions, "advance", run)


async def _close(story, run, executions):
    """Close a run. If funds do not cover the following steps, close it without them."""
    outcome = story.outcome(run, executions[0].requests[run][1])
    goes_on = story.leader is not LeaderPlay.ADVANCES_ALONE
    if goes_on and await each_one(executions, "close", run, outcome):
        return
    await each_one(executions, "close", run, outcome, advances_executions=False)
    await each_one(executions, "advance", run)


async def end(story, *executions):
    """End an execution with few pending runs, and return whether it has ended."""
    rules = executions[0]
    if len(rules.requests) > MOST_LEFT:
        return False
    if not rules.has_ended:
        if story.seed % 2:
            await each_one(executions, "pass_deadline")
            await each_one(executions, "expire")
        else:
            await each_one(executions, "expire_all")
            await each_one(executions, "stop", Status.CANCELLED)
    for run in sorted({*rules.requests, *rules.closed}):
        await each_one(executions, "advance", run, as_leader=False)
    return True


async def each_one(executions, verb, *arguments, **options):
    """Do the same in all executions, by the rules first, and return whether it happened.

    Nothing happens in any of them if funds are insufficient.
    """
    short = []
    for execution in executions:
        try:
            waits = getattr(execution, verb)(*arguments, **options)
            if waits is not None and hasattr(waits, "__await__"):
                await waits
        except FundsShortError:
            short.append(execution)
    assert len(short) in (0, len(executions))
    return not short
