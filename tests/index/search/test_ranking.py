"""The merged order of text and intent, and its reasons."""

import pytest

from nexus_tools.index.search import ToolSearch
from nexus_tools.index.search.ranking import MAX_CANDIDATES
from nexus_tools.index.search.text_index import Match
from tests.index.search.conftest import tool_text

CURRENCY = tool_text(1, "xyz.bank.convert-currency@1", "Convert an amount.", "rate Number.")
IMAGE = tool_text(2, "xyz.pictures.convert_image@1", "Change the format of pictures.")
WEATHER = tool_text(3, "xyz.meteo.forecast@1", "Humidity of a city.")
TEXTS = {text.tool: text for text in (CURRENCY, IMAGE, WEATHER)}


SIMILAR = 0.4


class Similarities:
    """An intent search with known similarities."""

    min_similarity = SIMILAR

    def __init__(self, similarities: dict[int, float]) -> None:
        self._similarities = similarities

    def search(self, _: str, limit: int) -> list[Match]:
        best = sorted(self._similarities.items(), key=lambda item: -item[1])
        return [Match(tool, score) for tool, score in best[:limit]]


def search(index, texts, similarities=None) -> ToolSearch:
    index.update(list(texts.values()))

    def read(tools):
        return {tool: texts[tool] for tool in tools if tool in texts}

    return ToolSearch(index, read, None if similarities is None else Similarities(similarities))


def tools(page) -> list[int]:
    return [tool.tool for tool in page.tools]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("xyz.meteo.forecast@1", "The query is the name of the tool."),
        ("city", "'city' is in the description."),
        ("the cities", "'cities' matches 'city' in the description."),
        ("hum", "'humidity' in the description starts with 'hum'."),
        ("hmidity", "'hmidity' is similar to 'humidity' in the description."),
        ("meteo humidity", "'meteo' is in the domain; 'humidity' is in the description."),
    ],
)
def test_result_says_why_it_matches(index, query, reason):
    (result,) = search(index, TEXTS).search(query, 10).tools
    assert (result.tool, result.reason, result.relevance) == (3, reason, 1.0)


def test_intent_finds_tools_without_a_common_word(index):
    page = search(index, TEXTS, {3: 0.6, 2: 0.1}).search("umbrella", 10)
    assert tools(page) == [3, 2]
    assert page.tools[0].reason == "The meaning is similar (0.60 of 1)."
    assert page.tools[0].fqn == "xyz.meteo.forecast@1"


def test_tools_found_by_text_and_intent_come_first(index):
    page = search(index, TEXTS, {3: 0.5, 1: 0.45}).search("convert", 10)
    assert tools(page)[0] == 1
    assert page.tools[0].reason == "'convert' is in the name; the meaning is similar (0.45 of 1)."


def test_relevance_says_how_much_better_the_first_tool_is(index):
    page = search(index, TEXTS, {1: 0.5, 2: 0.48, 3: 0.1}).search("umbrella", 10)
    first, second, third = (result.relevance for result in page.tools)
    assert first == 1
    assert 0.8 < second < 0.9
    assert 0.2 < third < 0.25


def test_exact_match_does_not_lower_the_relevance_of_other_tools(index):
    texts = TEXTS | {4: tool_text(4, "xyz.bank.convert@1", "Other.")}
    page = search(index, texts).search("convert", 10)
    assert tools(page)[0] == 4
    assert page.tools[1].relevance > 0.5


def test_surplus_tools_of_a_domain_have_less_than_half_of_the_lowest_relevance(index):
    texts = {
        tool: tool_text(tool, f"xyz.crowd.money{tool}@1", "money money") for tool in range(1, 50)
    }
    texts[50] = tool_text(50, "xyz.honest.exchange@1", "Exchange of some money in a long text.")
    results = search(index, texts).search("money", 50).tools
    assert results[20].tool == 50
    assert all(2 * result.relevance <= results[20].relevance for result in results[21:])


def test_text_counts_little_if_most_words_do_not_occur(index):
    page = search(index, TEXTS, {3: 0.5}).search("do I need an umbrella on my pictures walk", 10)
    assert tools(page) == [3, 2]


@pytest.mark.parametrize(
    ("query", "similarity", "fits"),
    [
        ("knit a city sweater with reindeer", SIMILAR - 0.01, False),
        ("knit a city sweater with reindeer", SIMILAR, True),
        ("humid city", SIMILAR - 0.01, True),
        ("xyz.meteo.forecast", SIMILAR - 0.01, True),
    ],
)
def test_search_says_whether_a_tool_fits(index, query, similarity, fits):
    page = search(index, TEXTS, {3: similarity}).search(query, 10)
    assert tools(page)[0] == 3
    assert page.fits is fits


def test_search_without_intent_fits_if_any_word_occurs(index):
    searching = search(index, TEXTS)
    assert searching.search("knit a city sweater with reindeer", 10).fits
    assert not searching.search("knit a sweater with reindeer", 10).fits


def test_exact_fqn_stays_first_whatever_the_order_says(index):
    for query in (IMAGE.fqn, IMAGE.fqn.partition("@")[0]):
        page = search(index, TEXTS, {1: 0.9}).search(
            query, 10, order=lambda candidates: candidates[::-1]
        )
        assert tools(page)[0] == 2


def test_order_decides_about_tools_with_the_name_of_the_query(index):
    """Anyone can register a tool with this name."""
    searching = search(index, TEXTS, {1: 0.9})
    assert tools(searching.search("convert_image", 10))[0] == 2
    reverse = searching.search("convert_image", 10, order=lambda candidates: candidates[::-1])
    assert tools(reverse)[-1] == 2


def test_order_decides_among_the_candidates(index):
    def by_price(candidates):
        assert [candidate.relevance for candidate in candidates] == sorted(
            (candidate.relevance for candidate in candidates), reverse=True
        )
        return sorted(candidates, key=lambda candidate: {1: 5, 2: 1}[candidate.tool])

    assert tools(search(index, TEXTS).search("convert", 10, order=by_price)) == [2, 1]


def test_order_can_drop_candidates(index):
    page = search(index, TEXTS).search("convert", 10, order=lambda _: [])
    assert (tools(page), page.total, page.fits) == ([], 0, False)


def test_search_omits_tools_that_are_no_longer_listed(index):
    texts = dict(TEXTS)
    searching = search(index, texts, {2: 0.9})
    del texts[2]
    assert tools(searching.search("convert", 10)) == [1]


def test_pages_continue_the_same_order(index):
    texts = {
        tool: tool_text(tool, f"xyz.author{tool}.convert@1", "x " * (tool % 7))
        for tool in range(1, 301)
    }
    searching = search(index, texts)
    whole = searching.search("convert this", MAX_CANDIDATES)
    assert whole.total == len(whole.tools) == MAX_CANDIDATES
    parts = [searching.search("convert this", 50, offset) for offset in range(0, 200, 50)]
    assert [tool for part in parts for tool in tools(part)] == tools(whole)
    assert searching.search("convert this", 50, 200).tools == []


def test_author_of_many_similar_tools_cannot_hide_other_tools(index):
    texts = {
        tool: tool_text(tool, f"xyz.crowd.convert-money{tool}@1", "convert money")
        for tool in range(1, 301)
    }
    texts[301] = tool_text(301, "xyz.honest.money@1", "Convert money, with a longer description.")
    found = tools(search(index, texts).search("convert money", 50))
    assert 301 in found[:21]
    assert len(found) == 50


def test_reasons_contain_no_invisible_characters(index):
    hostile = tool_text(4, "xyz.aa.other@1", "abc\u3164def \u202eabc")
    for query in ("abc\u3164def", "\u202eabc"):
        for result in search(index, {4: hostile}).search(query, 10).tools:
            assert result.reason.isprintable()
            assert "\u3164" not in result.reason
            assert "\u202e" not in result.reason


def test_search_of_an_empty_index_returns_nothing(index):
    page = search(index, {}).search("convert", 10)
    assert (page.tools, page.total, page.fits) == ([], 0, False)
