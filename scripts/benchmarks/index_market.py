"""The tools and invocations of a synthetic market.

A few hundred tools have realistic texts, from `sentences/tools.jsonl`. They are spread among many
tools with synthetic texts, which have common verbs, nouns and ports, but no meaning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

import msgspec

from benchmarks.index_events import START_MS, invocation
from nexus_tools.contracts import RegistryEvent

REQUESTERS_PER_TOOL = 2
LEADERS = 50
DAYS = 60
"""The period of all invocations. The totals of a tool add up at most the last 30 days."""

_TOOLS = Path(__file__).with_name("sentences") / "tools.jsonl"
_DAY_MS = 24 * 3_600_000
_FAVOURITES = 8
_FAILURES = 9
_MAKERS = 10
"""The number of synthetic tools in a domain."""

_VERBS = """
add build check clean compare compute convert copy count create decode delete detect encode
estimate export fetch filter find format import list load measure merge parse print publish query
rank read resolve send sort split store translate update validate write
""".split()  # noqa: SIM905 - readable
_NOUNS = """
account address airport album alert animal answer apartment article artist asset audio balance
bank battery bill bird board boat bond book bottle branch bridge budget building bus cable
calendar camera car card channel chart child choice church circle city class client clock cloud
coast code coffee colour comment company contract country course currency customer date decision
delivery desk device dish distance document door dose dream driver earth email employee energy
engine error event exam factory family farm field film fire fish flag flight floor flower folder
food forest form friend fruit fuel game garden gift glass goal graph group guest harbour health
height hill holiday hospital hotel hour house idea image invoice island job journey key kitchen
label lake language law lesson letter level library licence light limit link loan location log
lunch machine mail map market match material meal meeting member memory menu message metal minute
mirror model money month mountain museum music name network news night note number object ocean
office offer order page painting paper parcel park part party password path patient payment people
person phone photo picture plan plane plant platform player poem point policy port post price
prize problem product profile project question queue radio rain rate recipe record region report
request result review ring river road robot room route rule salary sale sample sauce schedule
school score screen season seat sentence server shape ship shop signal size skill snow song sound
source space speech speed sport staff star station step stock stone storm story street student
style subject sugar summary sun survey symbol table task tax team temperature test text theatre
ticket tide time title tool topic total town toy track train translation travel tree trip truck
unit user vaccine value vehicle video village visit voice vote wage water weather weight wind
window word worker year zone
""".split()  # noqa: SIM905 - readable
_PORTS = """
amount city code count country currency data date end file format from height id input key
language latitude length limit longitude message name number page path query start text title to
type unit url user value width
""".split()  # noqa: SIM905 - readable
_SYLLABLES = """
ba co di fe gu ha jo ka li mo na pe qui ro su ta vu wi xe yo za bre cla dri
""".split()  # noqa: SIM905 - readable
_INVENTED = 5_000


@dataclass(frozen=True, slots=True)
class MarketTool:
    """A tool of the market. The schemas are JSON documents."""

    fqn: str
    description: str
    input_schema: bytes
    output_schema: bytes
    price_mist: int


@cache
def realistic_tools() -> list[MarketTool]:
    """Return the tools with realistic texts."""
    documents = [msgspec.json.decode(line) for line in _TOOLS.read_text().splitlines()]
    return [
        _tool(
            document["fqn"],
            document["description"],
            {port: {"type": "string"} for port in document["inputs"]},
            document["outputs"],
            Random(number),
        )
        for number, document in enumerate(documents)
    ]


def market(count: int) -> Iterator[MarketTool]:
    """Yield the tools of the market in their order. `count` is the number of all tools."""
    return (market_tool(place, count) for place in range(count))


def market_tool(place: int, count: int) -> MarketTool:
    """Return the tool at a place of the market."""
    return _realistic_places(count).get(place) or synthetic_tool(place)


@cache
def _realistic_places(count: int) -> dict[int, MarketTool]:
    tools = realistic_tools()
    return {number * count // len(tools): tool for number, tool in enumerate(tools)}


def synthetic_tool(number: int) -> MarketTool:
    """Return a tool whose text has no meaning."""
    random = Random(number)
    maker = Random(number // _MAKERS)
    verb, noun, other = random.choice(_VERBS), random.choice(_NOUNS), random.choice(_NOUNS)
    rare = [_invented_word(random) for _ in range(5)]
    fqn = f"xyz.{_invented_word(maker)}{number // _MAKERS}.{verb}_{rare[0]}_{number % _MAKERS}@1"
    description = (
        f"{verb.title()}s the {noun} of a {rare[0]} {rare[1]}, and returns the {other} for each"
        f" {rare[2]}. Supports {rare[3]} and {rare[4]}."
    )
    inputs = {
        port: {"type": "string", "description": f"The {port} of the {rare[0]}."}
        for port in random.sample(_PORTS, 3)
    }
    return _tool(fqn, description, inputs, [noun], random)


def _tool(
    fqn: str, description: str, inputs: dict[str, Any], outputs: Sequence[str], random: Random
) -> MarketTool:
    ports = {"type": "object", "properties": {port: {"type": "string"} for port in outputs}}
    variant = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return MarketTool(
        fqn,
        description,
        msgspec.json.encode({"type": "object", "properties": inputs}),
        msgspec.json.encode({"type": "object", "oneOf": [variant]}),
        random.choice((0, 100, 500, 1_000, 20_000)),
    )


def _invented_word(random: Random) -> str:
    """Return a word that has no meaning. Few words are frequent, and most words are rare."""
    number = int(_INVENTED * random.random() ** 2)
    return "".join(Random(f"word {number}").choices(_SYLLABLES, k=3))


def invocations(tools: int, count: int) -> Iterator[RegistryEvent]:
    """Yield the events of invocations. Few tools are popular, and requesters have favourite tools.

    The FQNs in the events are not those of the tools. An index does not read these FQNs.
    """
    step_ms = DAYS * _DAY_MS / count
    requesters = REQUESTERS_PER_TOOL * tools
    random = Random(1)
    for number in range(count):
        requester = int(requesters * random.random() ** 2)
        favourite = requester * _FAVOURITES + random.randrange(_FAVOURITES)
        tool = int(tools * _spread(favourite) ** 3)
        yield from invocation(
            *(number, tool, "xyz.example.market.tool@1"),
            requester=requester,
            leader=tool % LEADERS,
            at_ms=START_MS + int(number * step_ms),
            fails=number % _FAILURES == 0,
        )


def _spread(number: int) -> float:
    """Return a number between 0 and 1 that looks random (Knuth's multiplicative hashing)."""
    return number * 2_654_435_761 % 2**32 / 2**32


def misspelled(word: str, random: Random) -> str:
    """Return a word in which a letter is missing, additional, wrong, or swapped with the next."""
    place = random.randrange(len(word))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    other = random.choice(ascii_lowercase.replace(letter, ""))
    variants = [before + after, before + other + letter + after, before + other + after]
    if after and after[0] != letter:
        variants.append(before + after[0] + letter + after[1:])
    return random.choice(variants)
