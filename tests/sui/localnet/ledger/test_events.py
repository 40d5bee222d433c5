import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.localnet.ledger import (
    EmittedBy,
    EventLiteral,
    EventPosition,
    HasType,
    Ledger,
    SentBy,
    matches,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import SUI, Primitive, StructTag

SHOP, CAFE = Address.of(0x77), Address.of(0x88)
ALICE, BOB = Address.of(0xA), Address.of(0xB)
SOLD = StructTag(SHOP, "shop", "Sold", (SUI,))
SOLD_U8 = StructTag(SHOP, "shop", "Sold", (Primitive.U8,))
OPENED = StructTag(SHOP, "door", "Opened")
BREWED = StructTag(CAFE, "shop", "Brewed")


def single_term(*predicates):
    return (tuple(EventLiteral(predicate) for predicate in predicates),)


@pytest.fixture
def filled(chain):
    chain.commit(chain.coin(1, 1), timestamp_ms=500)
    chain.commit_all(
        [
            chain.transaction(events=[chain.event(SOLD, sender=ALICE)]),
            chain.transaction(
                events=[
                    chain.event(SOLD_U8, sender=BOB),
                    chain.event(OPENED, module="door", sender=BOB),
                ]
            ),
        ],
        timestamp_ms=600,
    )
    chain.commit(events=[chain.event(BREWED, sender=ALICE)], timestamp_ms=700)
    return chain.ledger


def positions(events):
    return [tuple(event.position) for event in events]


def test_events_are_ordered_with_position_time_and_transaction(filled):
    events = filled.events()
    assert positions(events) == [(1, 0, 0), (1, 1, 0), (1, 1, 1), (2, 0, 0)]
    assert [event.timestamp_ms for event in events] == [600, 600, 600, 700]
    assert events[1].transaction_digest == filled.checkpoint(1).transactions[1].digest
    assert [event.event.type for event in events] == [SOLD, SOLD_U8, OPENED, BREWED]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (SentBy(ALICE), [(1, 0, 0), (2, 0, 0)]),
        (EmittedBy(SHOP), [(1, 0, 0), (1, 1, 0), (1, 1, 1)]),
        (EmittedBy(SHOP, "door"), [(1, 1, 1)]),
        (HasType(SHOP), [(1, 0, 0), (1, 1, 0), (1, 1, 1)]),
        (HasType(SHOP, "shop"), [(1, 0, 0), (1, 1, 0)]),
        (HasType(SHOP, "shop", "Sold"), [(1, 0, 0), (1, 1, 0)]),
        (HasType(SHOP, "shop", "Sold", (SUI,)), [(1, 0, 0)]),
        (HasType(SHOP, "shop", "Sold", ()), []),
    ],
)
def test_predicate_selects_its_events(filled, predicate, expected):
    assert positions(filled.events(single_term(predicate))) == expected


def test_all_literals_of_a_term_must_match(filled):
    assert positions(filled.events(single_term(EmittedBy(SHOP), SentBy(BOB)))) == [
        (1, 1, 0),
        (1, 1, 1),
    ]


def test_one_of_several_terms_must_match(filled):
    either = (*single_term(EmittedBy(CAFE)), *single_term(EmittedBy(SHOP, "door")))
    assert positions(filled.events(either)) == [(1, 1, 1), (2, 0, 0)]


def test_negated_literal_selects_the_other_events(filled):
    others = ((EventLiteral(HasType(SHOP, "shop"), negated=True),),)
    assert positions(filled.events(others)) == [(1, 1, 1), (2, 0, 0)]


def test_range_includes_its_start_and_excludes_its_end(filled):
    start, end = EventPosition(1, 1, 0), EventPosition(2, 0, 0)
    assert positions(filled.events(start=start, end=end)) == [(1, 1, 0), (1, 1, 1)]


def test_descending_order_starts_at_the_end(filled):
    assert positions(filled.events(limit=2, descending=True)) == [(2, 0, 0), (1, 1, 1)]


def test_limit_takes_the_first_events(filled):
    assert positions(filled.events(limit=2)) == [(1, 0, 0), (1, 1, 0)]


@pytest.mark.parametrize("beyond", [EventPosition(3), EventPosition(2**64 - 1, 2**64 - 1)])
def test_start_after_the_chain_is_empty_and_end_after_it_includes_all(filled, beyond):
    assert filled.events(start=beyond) == []
    assert len(filled.events(end=beyond)) == 4


def test_start_after_the_last_event_of_a_transaction_means_the_next_one(filled):
    assert positions(filled.events(start=EventPosition(1, 0, 1), limit=1)) == [(1, 1, 0)]


predicates = st.one_of(
    st.builds(SentBy, st.sampled_from([ALICE, BOB])),
    st.builds(EmittedBy, st.sampled_from([SHOP, CAFE]), st.sampled_from([None, "shop", "door"])),
    st.builds(
        HasType,
        st.sampled_from([SHOP, CAFE]),
        st.sampled_from(["shop", "door"]),
        st.sampled_from([None, "Sold", "Opened"]),
    ),
    st.builds(HasType, st.sampled_from([SHOP, CAFE])),
    st.builds(
        HasType, st.just(SHOP), st.just("shop"), st.just("Sold"), st.sampled_from([(), (SUI,)])
    ),
)
literals = st.builds(EventLiteral, predicates, st.booleans())
terms = st.lists(st.lists(literals, max_size=3).map(tuple), max_size=3).map(tuple)


@given(event_filter=st.none() | terms)
def test_filter_gives_the_same_result_in_memory_and_in_the_database(logged, event_filter):
    events = logged.events()
    expected = [event for event in events if matches(event_filter, event.event)]
    assert logged.events(event_filter) == expected


@pytest.fixture(scope="module")
def logged(chain_on):
    """Commit every combination of emitting module, type and sender once."""
    chain = chain_on(Ledger())
    chain.commit(
        events=[
            chain.event(tag, package, module, sender)
            for package in (SHOP, CAFE)
            for module in ("shop", "door")
            for sender in (ALICE, BOB)
            for tag in (SOLD, SOLD_U8, OPENED, BREWED)
        ]
    )
    yield chain.ledger
    chain.ledger.close()
