"""The search for tools: text and intent, merged into one order.

1. A tool whose FQN is the whole query comes first.
2. The text index and the intent index each return their best tools. The relevance of a tool is the
   sum of its two scores, each relative to the best one, because the two kinds of scores are not
   comparable. A sum of ranks would hide how much better the first tools are, so that the order of
   step 4 would change too much. The fewer words of the query the best tools contain, the less the
   text counts.
3. A domain fills at most a part of the result, so that an author cannot hide other tools by
   registering many similar tools.
4. The best `MAX_CANDIDATES` tools are ordered by the caller, for example by reputation and price.
   These values change with each settlement, so they are not in the text index.

The index proposes tools, and the chain decides: read a tool from the chain before you show its
price or call it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Protocol

import msgspec

from nexus_tools.index.search.text_index import EXACT_SCORE, Match, TextIndex
from nexus_tools.index.search.word_matches import WordMatch, describe_matches, match_words
from nexus_tools.index.search.words import query_words
from nexus_tools.index.tool_text import ToolText

MAX_CANDIDATES = 200

_MAX_READ = 400
_MAX_PER_DOMAIN = 20
# A tool whose similarity is less by this amount has 1/e of the score.
_SIMILARITY_SCALE = 0.1
# The surplus tools of a domain have at most half of it, so that no record puts them before others.
_MIN_RELEVANCE = 0.2
_MAX_SAMPLED = 5
_MIN_COVERAGE = 0.5


class Candidate(msgspec.Struct, frozen=True):
    """A tool that fits a query. `relevance` is between 0 and 1, and 1 for the most relevant tool.

    `similarity` is the cosine similarity of the tool's text to the query, or None if it is unknown.
    """

    tool: int
    fqn: str
    relevance: float
    is_exact: bool
    similarity: float | None


class RankedTool(msgspec.Struct, frozen=True):
    """A search result. `reason` says in one sentence why the tool matches the query.

    The reason contains words that the author of the tool wrote.
    """

    tool: int
    fqn: str
    relevance: float
    reason: str


class SearchPage(msgspec.Struct, frozen=True):
    """A page of results. `total` is at most `MAX_CANDIDATES`.

    `fits` is False if no tool seems to fit the query. The tools are then only the closest ones.
    Without an intent index, `fits` is True if the page contains tools.
    """

    tools: Sequence[RankedTool]
    total: int
    fits: bool


class SimilarTools(Protocol):
    """The search by intent, `IntentIndex`."""

    @property
    def min_similarity(self) -> float:
        """The minimum similarity at which a tool fits a query whose words it does not contain."""
        ...

    def search(self, query: str, limit: int) -> list[Match]:
        """Return tools with a similar meaning, the best first, with their cosine similarity."""
        ...


ReadTexts = Callable[[Sequence[int]], Mapping[int, ToolText]]
"""A function that returns the current texts of tools. Tools that are not listed are absent."""

Order = Callable[[Sequence[Candidate]], Sequence[Candidate]]
"""A function that reorders candidates, which it receives by relevance. It may drop candidates."""


def by_relevance(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Keep the order of relevance."""
    return candidates


class ToolSearch:
    """The search over a text index and, optionally, an intent index."""

    def __init__(
        self, text_index: TextIndex, read_texts: ReadTexts, intent: SimilarTools | None = None
    ) -> None:
        self._text_index = text_index
        self._read_texts = read_texts
        self._intent = intent

    def search(
        self, query: str, limit: int, offset: int = 0, order: Order = by_relevance
    ) -> SearchPage:
        """Return a page of the tools that fit a query.

        `order` receives the tools whose FQN is the query apart from all others. Anyone can register
        a tool with the name of another tool, so `order` decides about tools with an equal name.
        """
        text = self._text_index.search(query, _MAX_READ)
        intent = self._intent.search(query, MAX_CANDIDATES) if self._intent else []
        texts = self._read_texts(list({match.tool: None for match in (*text, *intent)}))
        text = [match for match in text if match.tool in texts]
        intent = [match for match in intent if match.tool in texts]

        @cache
        def matches(tool: int) -> Sequence[WordMatch]:
            return match_words(query, texts[tool])

        coverage = _coverage(query, [matches(match.tool) for match in text[:_MAX_SAMPLED]])
        candidates = _candidates(text, intent, texts, text_weight=coverage if intent else 1.0)
        exact = [candidate for candidate in candidates if candidate.is_exact]
        is_fqn = "." in query
        first = exact if is_fqn else []
        others = [candidate for candidate in candidates if not (is_fqn and candidate.is_exact)]
        ordered = [*order(first), *order(others)]
        page = ordered[max(0, offset) :][: max(0, limit)]
        is_known = bool(exact) or self._is_similar(intent) or coverage >= _MIN_COVERAGE
        return SearchPage(
            [_ranked(candidate, matches(candidate.tool)) for candidate in page],
            len(ordered),
            bool(ordered) and (self._intent is None or is_known),
        )

    def _is_similar(self, matches: Sequence[Match]) -> bool:
        if self._intent is None or not matches:
            return False
        return matches[0].score >= self._intent.min_similarity


def _candidates(
    text: Sequence[Match],
    intent: Sequence[Match],
    texts: Mapping[int, ToolText],
    *,
    text_weight: float,
) -> Sequence[Candidate]:
    exact = {match.tool for match in text if match.score >= EXACT_SCORE}
    similarity = {match.tool: match.score for match in intent}
    scores = _fuse(text, intent, text_weight=text_weight)
    tools = sorted(scores, key=lambda tool: (tool not in exact, -scores[tool], tool))
    best = max(scores.values(), default=0.0) or 1.0
    relevance = {
        tool: _MIN_RELEVANCE + (1 - _MIN_RELEVANCE) * score / best for tool, score in scores.items()
    }
    first, surplus = _spread(tools, exact, texts)
    relevance |= {tool: relevance[tool] * _MIN_RELEVANCE / 2 for tool in surplus}
    return [
        Candidate(tool, texts[tool].fqn, relevance[tool], tool in exact, similarity.get(tool))
        for tool in [*first, *surplus][:MAX_CANDIDATES]
    ]


def _fuse(
    text: Sequence[Match], intent: Sequence[Match], *, text_weight: float
) -> dict[int, float]:
    scores: defaultdict[int, float] = defaultdict(float)
    words = {match.tool: match.score % EXACT_SCORE for match in text}
    best_words = max(words.values(), default=0.0)
    for tool, score in words.items():
        scores[tool] += text_weight * (score / best_words if best_words else 1.0)
    best_similarity = max((match.score for match in intent), default=0.0)
    for match in intent:
        scores[match.tool] += math.exp((match.score - best_similarity) / _SIMILARITY_SCALE)
    return scores


def _coverage(query: str, matches: Sequence[Sequence[WordMatch]]) -> float:
    """Return the largest share of the query's words that one of the best tools contains."""
    return max(map(len, matches), default=0) / (len(query_words(query)) or 1)


def _spread(
    tools: Sequence[int], exact: set[int], texts: Mapping[int, ToolText]
) -> tuple[Sequence[int], Sequence[int]]:
    """Separate the tools of a domain from all others if the domain has enough better tools."""
    counts: Counter[str] = Counter()
    first: list[int] = []
    surplus: list[int] = []
    for tool in tools:
        domain = texts[tool].fqn.partition("@")[0].rpartition(".")[0]
        counts[domain] += 1
        is_surplus = counts[domain] > _MAX_PER_DOMAIN and tool not in exact
        (surplus if is_surplus else first).append(tool)
    return first, surplus


def _ranked(candidate: Candidate, matches: Sequence[WordMatch]) -> RankedTool:
    reason = _reason(candidate, matches)
    return RankedTool(candidate.tool, candidate.fqn, candidate.relevance, reason)


def _reason(candidate: Candidate, matches: Sequence[WordMatch]) -> str:
    if candidate.is_exact:
        return "The query is the name of the tool."
    clauses = [describe_matches(matches)] if matches else []
    if candidate.similarity is not None:
        clauses.append(f"the meaning is similar ({candidate.similarity:.2f} of 1)")
    clause = "; ".join(clauses) or "related words match"
    return f"{clause[:1].upper()}{clause[1:]}."
