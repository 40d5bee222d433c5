from contextlib import closing

import pytest

from nexus_tools.sui.localnet.ledger import (
    EmittedBy,
    EventLiteral,
    EventPosition,
    HasType,
    Ledger,
    SentBy,
    State,
)
from nexus_tools.sui.localnet.ledger.event_query import MAX_BRANCHES
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import SUI, StructTag

SHOP, ALICE, BOB = Address.of(0x77), Address.of(0xA), Address.of(0xB)
TYPES = [StructTag(SHOP, f"module_{place % 3}", f"Event{place}") for place in range(12)]
PAGE = 64


def has_type(tag):
    return HasType(tag.address, tag.module, tag.name)


def any_of(*predicates):
    return tuple((EventLiteral(predicate),) for predicate in predicates)


FILTERS = {
    "every event": None,
    "one type": any_of(has_type(TYPES[0])),
    "one instantiation": any_of(HasType(SHOP, "module_0", "Event0", ())),
    "all types": any_of(*map(has_type, TYPES)),
    "the types of a module": any_of(HasType(SHOP, "module_1")),
    "the types of a package": any_of(HasType(SHOP)),
    "a sender": any_of(SentBy(ALICE)),
    "emitting modules": any_of(EmittedBy(SHOP, "module_1"), EmittedBy(SHOP, "module_2")),
    "an emitting package": any_of(EmittedBy(SHOP)),
    "a package and a type": any_of(EmittedBy(SHOP), has_type(TYPES[3])),
    "a type and a sender": (
        (EventLiteral(HasType(SHOP, "module_1")), EventLiteral(SentBy(ALICE))),
    ),
    "a rare sender of a frequent type": (
        (EventLiteral(has_type(TYPES[0])), EventLiteral(SentBy(BOB))),
    ),
    "other types": ((EventLiteral(has_type(TYPES[0]), negated=True),),),
}
every_filter = pytest.mark.parametrize("event_filter", FILTERS.values(), ids=FILTERS)


class ObservedState(State):
    """A database that keeps the plan of each query and counts SQLite's instructions."""

    def __init__(self):
        super().__init__()
        self.plan = []
        self.instructions = 0
        self._connection.set_progress_handler(self.count, 1)

    def count(self):
        self.instructions += 1

    def rows(self, statement, parameters=()):
        plan = super().rows(f"EXPLAIN QUERY PLAN {statement}", parameters)
        self.plan += [line for *_, line in plan]
        self.instructions = 0
        return super().rows(statement, parameters)


@pytest.fixture(scope="module")
def observed(chain_on):
    """Return functions that write 960 events and read a page, and the database."""
    state = ObservedState()
    ledger = Ledger(state)
    chain = chain_on(ledger)

    def write(count=960):
        events = [
            chain.event(TYPES[place % len(TYPES)], module=f"module_{place % 3}", sender=ALICE)
            for place in range(count)
        ]
        events += [chain.event(TYPES[0], sender=BOB) for _ in range(PAGE)]
        chain.commit(events=events)

    write()
    with closing(ledger):
        yield ledger, state, write


@every_filter
@pytest.mark.parametrize("descending", [False, True])
def test_page_is_read_from_indexes_without_sorting(observed, event_filter, descending):
    ledger, state, _ = observed
    state.plan.clear()
    assert ledger.events(event_filter, limit=PAGE, descending=descending)
    assert [line for line in state.plan if "TEMP B-TREE" in line] == []
    assert [line for line in state.plan if "SCAN" in line] in ([], ["SCAN page"])


@pytest.fixture(scope="module")
def costs(observed):
    """Return the instructions for the first page of each filter, in a short and a long history."""
    ledger, state, write = observed

    def measure():
        counts = {}
        for name, event_filter in FILTERS.items():
            ledger.events(event_filter, limit=PAGE)
            counts[name] = state.instructions
        return counts

    short = measure()
    for _ in range(8):
        write()
    return short, measure()


@pytest.mark.parametrize("name", FILTERS)
def test_page_costs_the_same_in_a_longer_history(costs, name):
    short, long = costs
    assert PAGE < long[name] < 1.1 * short[name]


def test_filter_with_too_many_types_reads_in_the_order_of_the_chain(chain):
    tags = [StructTag(SHOP, "shop", f"Event{place}") for place in range(MAX_BRANCHES + 1)]
    chain.commit(events=[chain.event(tag) for tag in tags])
    chain.commit(events=[chain.event(TYPES[0], Address.of(0x99)), chain.event(SUI)])
    query = any_of(HasType(SHOP, "shop"), EmittedBy(Address.of(0x99)))
    events = chain.ledger.events(query)
    assert [event.event.type for event in events] == [*tags, TYPES[0]]
    last = chain.ledger.events(query, end=EventPosition(1), limit=1, descending=True)
    assert [event.event.type for event in last] == [tags[-1]]
