"""A model of the rules of an invocation in plain arithmetic, with parties of many strategies.

Money flows as in the Move modules `invocation` and `tool`. The model omits gas, because each party
pays its own gas. The model includes off-chain facts: which leaders call the tool and with which
input, which parties know its answers, and which leaders its server rejects after three unsettled
answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

REFUSED_AFTER = 3
"""The number of unpaid answers after which the server of a priced tool refuses a leader.

An answer is unpaid if its invocation failed or expired, regardless of who caused it.
"""


class LeaderPlay(Enum):
    """A leader's strategy for an invocation that names it."""

    HONEST = auto()
    """The leader calls the tool, and settles the answer or fails the invocation with the reason."""
    LAZY = auto()
    """The leader fails the invocation immediately, without calling the tool."""
    IDLE = auto()
    """The leader does nothing."""
    KEEPING = auto()
    """The leader calls the tool, keeps the answer, and fails the invocation."""
    HOARDING = auto()
    """The leader calls the tool, keeps the answer, and does not close the invocation."""
    CURIOUS = auto()
    """The leader also calls the tool with another input and the ID of the same invocation."""
    INVENTING = auto()
    """The leader settles an invented answer, without calling the tool."""


class ToolPlay(Enum):
    """A tool's strategy when it is called."""

    HONEST = auto()
    WRONG = auto()
    """The tool's answer matches the schema but is wrong, which the chain cannot detect."""
    SILENT = auto()


class End(Enum):
    """The end of an invocation."""

    SETTLED = auto()
    FAILED = auto()
    EXPIRED = auto()


@dataclass(frozen=True, slots=True)
class Fees:
    """The fees in the terms of an invocation, in MIST."""

    settle_mist: int
    """The fee, including the bytes of the answer."""
    fail_mist: int


@dataclass(eq=False, slots=True)
class Leader:
    """A leader, and the requester that it colludes with, if any."""

    name: str
    play: LeaderPlay
    league: "Requester | None" = None


@dataclass(eq=False, slots=True)
class Tool:
    """A tool: its price, the leaders that it accepts, and its server's record of them."""

    name: str
    play: ToolPlay
    price_mist: int
    leaders: Sequence[Leader]
    signs: bool = False
    unpaid: Counter[str] = field(default_factory=Counter)
    """The number of unsettled answers that each leader received."""

    def responds_to(self, leader: Leader) -> bool:
        """Return whether the tool's server gives answers to this leader."""
        refused = self.price_mist > 0 and self.unpaid[leader.name] >= REFUSED_AFTER
        return self.play is not ToolPlay.SILENT and not refused


@dataclass(eq=False, slots=True)
class Requester:
    """A requester. With `league`, the named leaders give this requester unpaid answers."""

    name: str
    league: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an invocation: who closed it, the payments, and who knows the tool's answer."""

    end: End
    closer: Leader | None
    paid: Counter[str]
    """The change of each party's funds in MIST. The sum is 0."""
    answers: Mapping[str, int]
    """The number of the tool's answers that each leader received."""
    has_answer: bool
    """Whether the requester has an answer of the tool."""
    invented: bool
    """Whether the requester paid for an invented answer."""


def invoke(requester: Requester, tool: Tool, named: Sequence[Leader], fees: Fees) -> Result:
    """Play one invocation. The named leaders act in their windows, one after the other."""
    assert all(leader in tool.leaders for leader in named), (
        "the chain refuses leaders that are not listed"
    )
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
    told = any(worker.league is requester and taken[worker.name] for worker in named)
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
    """Return whether the leader calls the tool with the input of the invocation."""
    return leader.play not in (LeaderPlay.LAZY, LeaderPlay.IDLE, LeaderPlay.INVENTING)


def _end(tool: Tool, leader: Leader, *, responds: bool) -> End | None:
    """Return how a leader closes an invocation, or None if it does not."""
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
    """Parties with many strategies."""

    requesters: Sequence[Requester]
    tools: Sequence[Tool]
    leaders: Sequence[Leader]

    def draw(self, random: Random) -> tuple[Requester, Tool, tuple[Leader, ...]]:
        """Draw a requester, a tool and leaders, which collude if the requester has a `league`."""
        requester, tool = random.choice(self.requesters), random.choice(self.tools)
        known = [leader for leader in tool.leaders if leader.league is requester]
        wanted = known or tool.leaders
        return requester, tool, tuple(random.sample(wanted, min(len(wanted), random.randint(1, 2))))


def random_market(random: Random) -> Market:
    """Return three requesters, four leaders and four tools, each of a random kind."""
    requesters = [Requester(f"requester {n}", league=random.random() < 0.5) for n in range(3)]
    schemers = [requester for requester in requesters if requester.league]
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
