"""One word for each concept: what the glossary has given up is found wherever it comes back.

Identifiers are read as the words that they are made of: `claim_bond` and `ClaimBond` are `claim
bond`. A sentence goes on in the next line.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

from nexus_tools.cli.app import app
from nexus_tools.contracts import load_package
from nexus_tools.sui.bytecode import deserialize

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Retired:
    """A word that was given up, in lower case, and what is said now.

    The samples are what has to be found, and what has not. In the rooms `but_in` it is another
    word: one that Sui has, say.
    """

    now: str
    pattern: str
    found: tuple[str, ...]
    left: tuple[str, ...] = ()
    but_in: tuple[str, ...] = ()

    def hits(self, text):
        """The retired words of a text, as they stand in it once it is taken apart."""
        return [match[0] for match in re.finditer(self.pattern, words_of(text))]


def words_of(text):
    """The text in lower case and in one line, each identifier taken apart."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", text)
    text = re.sub(r"\n\s*(?:///|//|#|\*)?\s*", " ", text)  # a sentence goes on in the next line
    return re.sub(r"[ \t]+", " ", text).lower()


RETIRED = (
    Retired(
        "collateral",
        r"\bbond(s|ed)?\b",
        ("let Bond { balance } = bond;", "claim_bond", "EWrongBond", "bond_mist", "their bonds"),
        ("vagabonds", "a bondage of words"),
    ),
    Retired(
        "claim",
        r"\breclaim(s|ed|ing|able)?\b|\bclaim collateral\(",
        ("reclaimable_at_ms", "reclaim later", "tool.claim_collateral(cap)"),
        ("claimable_at_ms", "tool.claim(cap)", "claim the collateral", "ToolCollateralClaimed("),
    ),
    Retired(
        "unregister",
        r"\b(on|the|a|cancel|already|start(ed)? the) releas(e|ed)\b(?! of)|\brelease not started\b"
        r"|\breleased (at|after)\b",
        (
            *("whole, not on release", "cancel_release()", "EAlreadyReleased"),
            *("release_not_started", "released_at_ms", "since the release"),
        ),
        (
            "install a newer release of nexus-tools",
            "Nothing is released",
            "ships with this release",
        ),
        but_in=("localnet",),  # the framework has releases
    ),
    Retired(
        "payment, refund",
        # Executions and schedules have funds, of which many payments are made.
        r"\bprepaid funds\b|\bwrong funds\b|\bunspent\b"
        r"|(?<!prepaid and )\bnot spent\b(?! (goes|has gone) back)",
        ("EWrongFunds", "prepaid funds", "what is unspent", "what was not spent"),
        (
            *("refund_mist", "what is prepaid and not spent", "funds_mist"),
            *("coin::send_funds", "what is not spent goes back to the requester"),
        ),
    ),
    Retired(
        "suspended",
        r"(?<!wholly )\bslashed (tool|leader)s?\b(?! is suspended)|[\"']slashed[\"'](?!,)",
        ('return "slashed"', "Make a slashed tool whole again", "slashed_leader_does_not_settle"),
        ("what was slashed of it", "slashed_tool_is_suspended_until_topped_up", "Slashed {"),
    ),
    Retired(
        "close, closed",
        r"\bsettlers?\b|\bsettl(es?|ed|ing)( the| its| their)? outcomes?\b|\bendings\b"
        r"|\bending(\.(missed|elsewhere)| of\(|\])|\bsettling (transaction|batch)"
        r"|\binvocations?( has| have| was| is)? ended\b",
        (
            *("class Settler", "settle their outcomes", "how the invocation has ended"),
            *("Ending.MISSED", "ending_of(state)", "dict[Address, Ending]", "settling batches"),
        ),
        ("settles it with the answer", "settled, failed or expired", "depending"),
    ),
    Retired(
        "outcome (a failure is one, too)",
        r"\boutcome \| failure\b|\b(no|without( an)?) outcome\b",
        ("Outcome | Failure", "there is no outcome, for a reason", "without an outcome"),
        ("Outcome = Answer | Failure", "there is no answer"),
    ),
    Retired(
        "response, responds",
        r"\banswer(ed|ing)\b|\b(does|did|do|will|would|can|could)( not|n't) answer\b"
        r"|\b((tool|server|node|network|localnet|daemon)s?|it) answers\b|\bhttp answers?\b"
        r"|\banswers \d{3}\b",
        (
            *("the tool answered 503", "did not answer within 5 s", "a network answers at"),
            *("the HTTP answer", "`/health` answers 503"),
        ),
        (
            *("an answer of the tool", "two answers are settled", "the tool did not respond"),
            "a tool signs its answers",
        ),
    ),
    Retired(
        "invocation, tool call",
        r"\brequest(s|ed|ing)?( a| one)? calls?\b|\bcarr(y|ies) calls\b|\bon-chain calls\b",
        ("One requested call of one tool", "Requests a call", "carries calls to tools"),
        ("Requests an invocation", "a tool call", "the Leader calls the tool"),
    ),
    Retired(
        "command (of Move)",
        r"\bcalls of (the )?(older|newer|next) versions?\b|\ball the calls that\b",
        ("they refuse the calls of older versions", "All the calls that it takes"),
        ("they refuse the commands of older versions",),
    ),
    Retired(
        "assignment, entry, tool call, outcome, closing",
        r"\bpreparations?\b|\battempt = outcome\b|\bjournal entry\b",
        ("class Preparation:", "Attempt = Outcome | Again", "leader.journal_entry"),
        ("for attempt in range(3)", "class Attempt(MoveStruct)", "class Entry:"),
    ),
    Retired(
        "config (of the daemon)",
        r"\bnexus tools\.leader(\.\w+)? import[^;]{0,80}\bleader settings\b|\bleader\.settings\b",
        ("from nexus_tools.leader import Leader, LeaderSettings", "leader.settings import X"),
        ("from nexus_tools.registry import LeaderSettings", "leaders.settings()"),
    ),
)
SUFFIXES = {".py", ".md", ".move", ".toml", ".json", ".yaml", ".template", ""}


@cache
def sources():
    """Where people read words: path -> text."""
    folders = ("nexus_tools", "move", "tests", "docs", "scripts", "examples")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    paths += [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    return {
        path.relative_to(ROOT): path.read_text()
        for path in paths
        if path.is_file() and path.suffix in SUFFIXES and is_read(path.relative_to(ROOT))
    }


def is_read(path):
    generated = {"__pycache__", "bytecode", "vectors", "build"} & set(path.parts[:-1])
    return path != Path("tests/test_words.py") and not (generated and path.suffix != ".py")


def texts(rule):
    """The texts in which a word is ours: those of all rooms but some, whose name is a folder's."""
    rooms = set(rule.but_in)
    return {path: text for path, text in sources().items() if not rooms & set(path.parts)}


by_word = pytest.mark.parametrize("rule", RETIRED, ids=lambda rule: rule.now)


@by_word
def test_no_retired_word_stands_in_sources_or_pages(rule):
    found = {str(path): hits for path, text in texts(rule).items() if (hits := rule.hits(text))}
    assert found == {}, f"say: {rule.now}"


@by_word
def test_no_retired_word_is_read_by_who_asks_for_help(rule):
    found = {name: hits for name, text in helps(app) if (hits := rule.hits(text))}
    assert found == {}, f"say: {rule.now}"


@by_word
def test_no_retired_word_is_on_chain(rule):
    names = {
        deserialize(code).name: "; ".join(deserialize(code).identifiers)
        for code in (
            *load_package().modules,
            *load_package("nexus_tools.contracts.workflows").modules,
        )
    }
    found = {module: hits for module, text in names.items() if (hits := rule.hits(text))}
    assert found == {}, f"say: {rule.now}"


def helps(group, path=("nexus-tools",)):
    """The help of each command and of its options, as it is printed."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        here = (*path, name)
        yield " ".join(here), command.get_help(click.Context(command, info_name=" ".join(here)))
        if isinstance(command, click.Group):
            yield from helps(command, here)


# --- The finder itself


@by_word
def test_a_retired_word_is_found_where_it_is_put_in(rule):
    for sample in rule.found:
        assert rule.hits(f"/// Before.\n{sample}\n/// After."), sample


@by_word
def test_other_words_are_left_alone(rule):
    for sample in rule.left:
        assert rule.hits(sample) == [], sample


def test_a_retired_word_is_found_across_the_end_of_a_line():
    rule = next(each for each in RETIRED if each.now == "suspended")
    assert rule.hits("/// Makes a slashed\n/// tool whole again.")
    assert rule.hits("    # a slashed\n    # leader closes nothing")


def test_the_finder_reads_what_people_read():
    paths = {str(path) for path in sources()}
    assert {
        *("move/nexus_tools/sources/tool.move", "move/nexus_tools/tests/tool_tests.move"),
        *(
            "nexus_tools/registry/tools/tool_registry.py",
            "nexus_tools/leader/closing/closing_batch.py",
        ),
        *("nexus_tools/cli/leader/own.py", "README.md", "scripts/demo"),
        *("docs/reference/glossary.md", "docs/guides/export.md", "tests/bridges/mcp/test_http.py"),
        "nexus_tools/sui/localnet/node/node.py",
        *("examples/tools.py", "nexus_tools/export/unstract_template/src/main.py.template"),
    } <= paths


# --- What the table asks for besides


def test_an_event_begins_with_its_noun():
    sources = (ROOT / "move").glob("nexus_*/sources/*.move")
    event = re.compile(r"^public struct (\w+) has copy, drop \{", re.MULTILINE)
    events = {path.stem: event.findall(path.read_text()) for path in sources}
    assert sum(map(len, events.values())) == 55
    # What happens to collateral happens to a tool or to a leader: the event has its id.
    assert len(events.pop("collateral")) == 8
    nouns = "Tool|Leader|Invocation|Registry|Ownership|Permit|Dag|Execution|Run|Region|Schedule"
    assert [
        name for each in events.values() for name in each if not re.match(f"({nouns})[A-Z]", name)
    ] == []


@pytest.mark.parametrize(
    "word",
    [
        *("outcome", "answer", "failure", "close, closed", "collateral", "suspended", "refund"),
        *("tool call", "execution failure", "event", "settings", "assignment", "entry", "closing"),
    ],
)
def test_the_glossary_has_the_word(word):
    assert f"\n| {word} | " in (ROOT / "docs/reference/glossary.md").read_text()
