"""The rules of the style check, each with examples of what it finds and what it leaves alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MOST_WORDS = 30

EXCEPTIONS = {
    "optional first parameter must be of": "the text of an error of Sui's verifier",
    "room for the answer": "a label of docs/pictures/money.svg",
}
"""Phrases that may break the rules, with the reason."""


@dataclass(frozen=True)
class Rule:
    """A pattern that plain technical English avoids, and what to write instead."""

    name: str
    pattern: re.Pattern[str]
    instead: str
    found: tuple[str, ...]
    left: tuple[str, ...] = ()


def _rule(
    name: str, pattern: str, instead: str, found: tuple[str, ...], left: tuple[str, ...] = ()
) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), instead, found, left)


RULES = (
    _rule(
        "negated noun",
        r"\b(is|are|was|were) no\b(?! (longer|more|less|fewer|later|earlier|one)\b)",
        "negate the verb: 'is not a'",
        ("'x.py' is no Python file", "there are no such tools"),
        ("it is no longer valid", "there is no one to ask"),
    ),
    _rule(
        "free relative as subject",
        r"^(What|Who|Whoever|Whom|Whatever|Whose|That which|Those that|Those who|Such)\b(?!.*\?$)",
        "start with the noun that it stands for",
        ("What is kept of a registry is cached.", "Whoever closes it is paid."),
        ("What does a tool cost?", "The worker that closes it is paid."),
    ),
    _rule(
        "fronted 'Of'",
        r"^(?-i:Of) (?!course\b)",
        "start with the subject",
        ("Of a tool that raises, the exception is shown.",),
        ("If a tool raises, the exception is shown.", "of the type VALUE"),
    ),
    _rule(
        "placeholder 'so many'",
        r"\bso (many|much)\b(?! \w+ that\b)",
        "name the number: 'N', 'at most N'",
        ("Pay at most so many SUI.",),
        ("so many tools that the list is cut",),
    ),
    _rule(
        "everyday passive",
        r"\b(is|are|was|were|been|be) (told|reckoned|heard|lent|spared)\b",
        "name the actor and use the verb of the field: reports, returns, logs, estimates",
        ("What is told by the log",),
        ("The log reports it", "the target of the write is borrowed"),
    ),
    _rule(
        "retired word",
        r"\b(anew|besides|whoever|whatever|whomever|for ever|belongs? into|reckon(s|ing)?"
        r"|mend(s|ed|ing)?|strangers?|somebody|nobody|ways? out|held back|holds? back|unfit|begun"
        r"|bond(s|ed)?|went back|kept elsewhere|in hand|under way|the house|rooms?|front doors?"
        r"|captions?)\b",
        "use the term of the glossary",
        ("Draws the pictures anew.", "a stranger's program", "which room knows what", "has begun"),
        ("Draws the pictures again.", "an untrusted program", "headroom"),
    ),
    _rule(
        "long sentence",
        rf"^(?:\S+\s+){{{_MOST_WORDS},}}\S+$",
        f"split it: at most {_MOST_WORDS} words",
        (" ".join(["word"] * (_MOST_WORDS + 1)),),
        (" ".join(["word"] * _MOST_WORDS),),
    ),
)


def violations(sentence: str) -> Iterator[Rule]:
    """Yield the rules that a sentence breaks, unless it contains an exception."""
    if any(phrase in sentence for phrase in EXCEPTIONS):
        return
    for rule in RULES:
        if rule.pattern.search(sentence):
            yield rule
