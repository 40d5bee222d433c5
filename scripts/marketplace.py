"""The rules of an invocation as pure arithmetic, and parties who play by all kinds of strategies.

Money flows as `invocation` and `tool` say; gas is left aside, which is each party's own. What
happens off chain is here, too: who calls the tool, who has its answer, whom the tool's server
refuses after three answers that were failed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

REFUSED_AFTER = 3
"""How many answers a leader may fail before the server of a tool that has a price refuses it."""


class LeaderPlay(Enum):
    """What a leader does with an invocation that names it."""

    HONEST = auto()
    """It calls the tool, and settles the answer or says why there is none."""
    LAZY = auto()
    """It fails at once, and calls nobody."""
    IDLE = auto()
    """It does nothing."""
    KEEPING = auto()
    """It calls the tool, keeps the answer, and fails."""
    INVENTING = auto()
    """It settles an answer of its own, and calls nobody."""


class ToolPlay(Enum):
    """What a tool does when it is called."""

    HONEST = auto()
    WRONG = auto()
    """Its answer fits the schema, and is wrong: no chain sees that."""
    SILENT = auto()


class End(Enum):
    """What became of an invocation."""

    SETTLED = auto()
    FAILED = auto()
    EXPIRED = auto()


@dataclass(frozen=True, slots=True)
class Fees:
    """What the terms of an invocation pay, in MIST."""

    settle_mist: int
    """With the bytes of the answer."""
    fail_mist: int
    unused_mist: int
    """What is prepaid for a longer answer."""


@dataclass(eq=False, slots=True)
class Leader:
    """A leader, and the requester with whom it is in league, if there is one."""

    name: str
    play: LeaderPlay
    league: "Requester | None" = None


@dataclass(eq=False, slots=True)
class Tool:
    """A tool: its price, the leaders that it accepts, and what its server remembers of them."""

    name: str
    play: ToolPlay
    price_mist: int
    leaders: Sequence[Leader]
    signs: bool = False
    kept: Counter[str] = field(default_factory=Counter)
    """How many of its answers each leader failed."""

    def responds_to(self, leader: Leader) -> bool:
        """Whether its server answers a request of this leader."""
        refused = self.price_mist > 0 and self.kept[leader.name] >= REFUSED_AFTER
        return self.play is not ToolPlay.SILENT and not refused


@dataclass(eq=False, slots=True)
class Requester:
    """Who requests; with `league`, it names leaders that hand it answers for which nobody paid."""

    name: str
    league: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How an invocation ended: who closed it, what flowed, and who has the tool's answer."""

    end: End
    closer: Leader | None
    paid: Counter[str]
    """What each party has more, or less, in MIST: it comes to 0."""
    answered: bool
    """Whether the requester has an answer of the tool's."""
    invented: bool
    """Whether the requester paid for an answer that is not the tool's."""


def invoke(requester: Requester, tool: Tool, named: Sequence[Leader], fees: Fees) -> Result:
    """Play one invocation: the named leaders in their windows, one after the other."""
    assert all(leader in tool.leaders for leader in named), "the chain refuses who is not listed"
    has_answer = False
    for leader in named:
        end, real = _carried(tool, leader)
        has_answer = has_answer or (leader.league is requester and real)
        if end is None:
            continue
        paid: Counter[str] = Counter()
        if end is End.SETTLED:
            paid[leader.name] += fees.settle_mist
            paid[tool.name] += tool.price_mist
        else:
            paid[leader.name] += fees.fail_mist
        paid[requester.name] -= sum(paid.values())
        settled = end is End.SETTLED
        return Result(end, leader, paid, has_answer or (settled and real), settled and not real)
    return Result(End.EXPIRED, None, Counter(), has_answer, False)


def _carried(tool: Tool, leader: Leader) -> tuple[End | None, bool]:
    """How a leader closes, if it does, and whether it had the tool's answer."""
    match leader.play:
        case LeaderPlay.IDLE:
            return None, False
        case LeaderPlay.LAZY:
            return End.FAILED, False
        case LeaderPlay.INVENTING if not tool.signs:
            return End.SETTLED, False
        case LeaderPlay.INVENTING:
            return End.FAILED, False  # the chain refuses an answer without the signature
        case LeaderPlay.KEEPING:
            had = tool.responds_to(leader)
            tool.kept[leader.name] += had
            return End.FAILED, had
        case LeaderPlay.HONEST:
            answered = tool.responds_to(leader)
            return (End.SETTLED if answered else End.FAILED), answered


# --- Random markets


@dataclass(frozen=True, slots=True)
class Market:
    """Parties with strategies of all kinds."""

    requesters: Sequence[Requester]
    tools: Sequence[Tool]
    leaders: Sequence[Leader]

    def draw(self, random: Random) -> tuple[Requester, Tool, tuple[Leader, ...]]:
        """Somebody who requests something of somebody; a requester in league names its own."""
        requester, tool = random.choice(self.requesters), random.choice(self.tools)
        known = [leader for leader in tool.leaders if leader.league is requester]
        wanted = known or tool.leaders
        return requester, tool, tuple(random.sample(wanted, min(len(wanted), random.randint(1, 2))))


def random_market(random: Random) -> Market:
    """Three requesters, four leaders and four tools, each of a random kind."""
    requesters = [Requester(f"requester {n}", league=random.random() < 0.5) for n in range(3)]
    schemers = [each for each in requesters if each.league]
    leaders = []
    for n in range(4):
        play = random.choice([*LeaderPlay])
        keeps = play is LeaderPlay.KEEPING and schemers
        leaders.append(Leader(f"leader {n}", play, random.choice(schemers) if keeps else None))
    tools = [
        Tool(
            f"tool {n}",
            random.choice([*ToolPlay]),
            random.choice([0, 1_000_000, 100_000_000]),
            random.sample(leaders, random.randint(1, 4)),
            signs=random.random() < 0.5,
        )
        for n in range(4)
    ]
    return Market(requesters, tools, leaders)
