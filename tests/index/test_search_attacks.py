"""Attacks by an author who wants a worthless tool before the honest tools in a search.

Each tool locks 1 SUI. One call by a new account costs about 0.003 SUI, as
`test_record_attacks.py` measures.
"""

from contextlib import closing
from importlib.util import find_spec
from itertools import product

import pytest

from nexus_tools.index import Index, IndexIdentity, IndexWriter, SearchUpdate, ToolSort, open_writer
from nexus_tools.index.search import engines
from tests.index.synthetic import DEPLOYMENT, Events, object_id

IDENTITY = IndexIdentity.of(DEPLOYMENT)
VERBS = ("convert", "translate", "resize", "summarize", "verify", "publish", "archive", "sign")
NOUNS = ("invoice", "photo", "contract", "recipe", "song", "passport", "map", "diary")
HONEST = [
    {
        "fqn": f"xyz.{verb}{noun}.{verb}_{noun}@1",
        "description": f"The {noun} you send: {verb} it. One {noun} takes a second.",
    }
    for verb, noun in product(VERBS, NOUNS)
]
QUERIES = [f"{verb} {noun}" for verb, noun in product(VERBS, NOUNS)]
PAYERS = 300
ME = object_id("requester", 1)


@pytest.fixture(autouse=True, params=["tantivy", "fts5"])
def engine(request, monkeypatch):
    """Run each test with the extra `index`, and as if it were not installed."""
    if request.param == "fts5":
        monkeypatch.setattr(
            engines, "find_spec", lambda name: None if name == "tantivy" else find_spec(name)
        )


@pytest.fixture
def market(tmp_path):
    """Return a function that returns an index of the honest tools and those of an attacker.

    Each honest tool has one successful call. `calls` has the number of payers of tools by their
    number, with a successful call each. `failures` has those whose call failed.
    """
    opened = []

    def market(attackers=(), calls=None, failures=None, own=()):
        index = open_writer(tmp_path / f"{len(opened)}.sqlite", IDENTITY)
        events, number = Events(), 0
        tools = [*HONEST, *attackers]
        records = [
            events.tool(place, **{"price_mist": 100} | tool) for place, tool in enumerate(tools)
        ]
        everyone = dict.fromkeys(range(len(HONEST)), 1)
        calling = [(everyone, 10, False), (calls or {}, 1_000, False)]
        calling += [(failures or {}, 2_000, True), (dict.fromkeys(own, 2), None, False)]
        for counts, payers, fails in calling:
            for tool, count in counts.items():
                for payer in range(count):
                    requester = 1 if payers is None else payers + payer
                    records += events.invocation(
                        number, tool=tool, leader=0, requester=requester, fails=fails
                    )
                    number += 1
        IndexWriter(index, DEPLOYMENT).apply(records)
        with closing(SearchUpdate(index)) as search:
            search.run()
        index.close()
        opened.append(Index(index.path, IDENTITY))
        return opened[-1]

    yield market
    for index in opened:
        index.close()


def found(index, query, **options):
    return [item.tool.fqn for item in index.search(query, **options).items]


def shares(index, *attackers):
    """Return the share of queries in which an attacker is first, and an honest tool in the top 3.

    The honest tool is the one that the query describes.
    """
    first = near = 0
    fqns = {tool["fqn"] for tool in attackers}
    for query, honest in zip(QUERIES, HONEST, strict=True):
        results = found(index, query)
        first += results[0] in fqns
        near += honest["fqn"] in results[:3]
    return first / len(QUERIES), near / len(QUERIES)


STUFFED = {
    "fqn": "com.best.assistant@1",
    "description": " ".join([*VERBS, *NOUNS, *(f"keyword{number}" for number in range(300))]),
    "price_mist": 0,
}


def test_keywords_and_a_bought_record_do_not_reach_the_first_place(market):
    """300 payers (0.9 SUI) call a free tool whose description contains all keywords."""
    assert shares(market()) == (0, 1)
    assert shares(market([STUFFED], {len(HONEST): PAYERS}), STUFFED) == (0, 1)


def test_nine_stuffed_tools_do_not_reach_the_first_place(market):
    """Nine tools (9 SUI locked) with seven keywords in their names, and 30 payers each."""
    names = ["_".join([*VERBS, *NOUNS][start : start + 7]) for start in range(9)]
    tools = [STUFFED | {"fqn": f"com.best{place}.{name}@1"} for place, name in enumerate(names)]
    index = market(tools, {len(HONEST) + place: 30 for place in range(9)})
    first, near = shares(index, *tools)
    assert (first, near) == (0, 1)


def test_failing_calls_of_an_honest_tool_move_it_a_few_places(market):
    """50 payers (0.16 SUI) make each of eight honest tools fail."""
    index = market(failures=dict.fromkeys(range(8), 50))
    for query, honest in zip(QUERIES[:8], HONEST, strict=False):
        assert honest["fqn"] in found(index, query)[:3]


CLONE = HONEST[0] | {"fqn": "com.evil.convert_invoice@1", "price_mist": 0}


def test_limitation_copied_text_with_a_bought_record_comes_first(market):
    """The copy of a tool is free and has 50 payers (0.16 SUI): only the own experience helps."""
    index = market([CLONE], {len(HONEST): 50}, own=[0])
    assert found(index, QUERIES[0])[:2] == [CLONE["fqn"], HONEST[0]["fqn"]]
    assert found(index, QUERIES[0], requesters=[ME])[:2] == [HONEST[0]["fqn"], CLONE["fqn"]]


def test_successful_call_does_not_put_a_tool_first_in_other_searches(market):
    """You call the free tool with all keywords twice, and both calls succeed."""
    index = market([STUFFED], own=[len(HONEST)])
    for query, honest in zip(QUERIES, HONEST, strict=True):
        assert found(index, query, requesters=[ME])[0] == honest["fqn"]


def test_name_that_equals_a_query_does_not_precede_the_own_experience(market):
    """Anyone can register a tool with the name `invoice` (1 SUI locked)."""
    squatter = {"fqn": "com.evil.invoice@1", "description": "", "price_mist": 0}
    index = market([squatter], own=[0])
    assert found(index, "invoice")[0] == squatter["fqn"]
    assert found(index, "invoice", requesters=[ME])[:2] == [HONEST[0]["fqn"], squatter["fqn"]]


def test_fqn_finds_only_its_owner_first(market):
    """Names that contain or resemble the FQN, in the same unverified domain or in another one."""
    fqn = HONEST[0]["fqn"]
    names = ("convert_invoice2", "convert-invoice", "convert_inv0ice", "convert_invoice_pro")
    tools = [
        {"fqn": f"{prefix}.{name}@1", "description": fqn, "price_mist": 0}
        for prefix in ("xyz.convertinvoice", "xyz.convertinvoice.xyz", "com.xyz.convertinvoice")
        for name in names
    ]
    index = market(tools, {len(HONEST) + place: 20 for place in range(len(tools))})
    assert found(index, fqn)[0] == fqn
    assert found(index, fqn.partition("@")[0])[0] == fqn


def test_tools_of_one_domain_that_flood_a_search_leave_room(market):
    """40 tools of one domain (40 SUI locked) with the same words and many payers."""
    flood = [
        {"fqn": f"com.flood.invoice{place}@1", "description": "invoice", "price_mist": 0}
        for place in range(40)
    ]
    index = market(flood, {len(HONEST) + place: 5 for place in range(40)})
    results = found(index, "invoice")
    honest = [place for place, fqn in enumerate(results) if fqn.startswith("xyz.")]
    assert len(honest) == len(VERBS)
    assert max(honest) <= 20 + len(VERBS) - 1


@pytest.mark.parametrize("description", ["", "invoice " * 512, "\0\u202e\u3164", "x" * 4_096])
def test_empty_and_huge_texts_do_not_help(market, description):
    tool = {"fqn": "com.evil.tool@1", "description": description, "price_mist": 0}
    assert shares(market([tool], {len(HONEST): PAYERS}), tool) == (0, 1)


def test_limitation_volume_and_reputation_can_be_bought(market):
    """Lists that sort by a record show a bought one first: the guide of the index says so."""
    index = market([STUFFED], {len(HONEST): PAYERS})
    for sort in (ToolSort.VOLUME, ToolSort.REPUTATION):
        assert index.tools(sort=sort).items[0].fqn == STUFFED["fqn"]
