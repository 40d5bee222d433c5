"""The rules of an invocation as pure arithmetic, and parties who play by all kinds of strategies.

Money flows as `invocation` and `tool` say; gas is left aside, which is each party's own. What
happens off chain is here, too: who calls the tool and what it asks, who has its answers, and whom
the tool's server refuses, as it took three answers of which none was settled.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

REFUSED_AFTER = 3
"""How many answers a leader may take for nothing before the server of a tool that has a price
refuses it: answers to invocations that were failed or expired, whoever let that happen."""


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
    HOARDING = auto()
    """It calls the tool, keeps the answer, and does nothing."""
    CURIOUS = auto()
    """It asks the tool a question of its own, too, with the same invocation."""
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
    unpaid: Counter[str] = field(default_factory=Counter)
    """How many answers each leader took to what was not settled."""

    def responds_to(self, leader: Leader) -> bool:
        """Whether its server responds to this leader with an answer."""
        refused = self.price_mist > 0 and self.unpaid[leader.name] >= REFUSED_AFTER
        return self.play is not ToolPlay.SILENT and not refused


@dataclass(eq=False, slots=True)
class Requester:
    """Who requests; with `league`, leaders that it names hand it what nobody paid for."""

    name: str
    league: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How an invocation was closed: by whom, what flowed, and who has the tool's answer."""

    end: End
    closer: Leader | None
    paid: Counter[str]
    """What each party has more, or less, in MIST: it comes to 0."""
    answers: Mapping[str, int]
    """How many answers of the tool each leader took."""
    has_answer: bool
    """Whether the requester has an answer of the tool's."""
    invented: bool
    """Whether the requester paid for an answer that is not the tool's."""


def invoke(requester: Requester, tool: Tool, named: Sequence[Leader], fees: Fees) -> Result:
    """Play one invocation: the named leaders in their windows, one after the other."""
    assert all(leader in tool.leaders for leader in named), "the chain refuses who is not listed"
    taken: Counter[str] = Counter()
    for leader in named:
        taken[leader.name] += _asks(leader) and tool.responds_to(leader)
        end = _end(tool, leader, responds=taken[leader.name] > 0)
        if end is not None:
            break
    else:
        end, leader = End.EXPIRED, None
    if end is not End.SETTLED:
        tool.unpaid += taken
    told = any(each.league is requester and taken[each.name] for each in named)
    real = leader is not None and taken[leader.name] > 0
    return Result(
        end,
        leader,
        _paid(requester, tool, leader, end, fees),
        taken,
        told or (end is End.SETTLED and real),
        end is End.SETTLED and not real,
    )


def _asks(leader: Leader) -> bool:
    """Whether it calls the tool. An invocation pays for one input: a second question is refused."""
    return leader.play not in (LeaderPlay.LAZY, LeaderPlay.IDLE, LeaderPlay.INVENTING)


def _end(tool: Tool, leader: Leader, *, responds: bool) -> End | None:
    """How a leader closes an invocation, if it does."""
    match leader.play:
        case LeaderPlay.IDLE | LeaderPlay.HOARDING:
            return None
        case LeaderPlay.LAZY | LeaderPlay.KEEPING:
            return End.FAILED
        case LeaderPlay.INVENTING:
            # The chain refuses an answer without the signature.
            return End.FAILED if tool.signs else End.SETTLED
        case LeaderPlay.HONEST | LeaderPlay.CURIOUS:
            return End.SETTLED if responds else End.FAILED


def _paid(
    requester: Requester, tool: Tool, closer: Leader | None, end: End, fees: Fees
) -> Counter[str]:
    paid: Counter[str] = Counter()
    if closer is not None:
        paid[closer.name] += fees.settle_mist if end is End.SETTLED else fees.fail_mist
    if end is End.SETTLED:
        paid[tool.name] += tool.price_mist
    paid[requester.name] -= sum(paid.values())
    return paid


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
        keeps = play in (LeaderPlay.KEEPING, LeaderPlay.HOARDING) and schemers
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
