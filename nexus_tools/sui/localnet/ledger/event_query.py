"""The query for a page of filtered events, whose cost does not depend on the number of matches.

An index of `events` whose columns all have one value, for example one type, lists its rows in the
order of the chain. So each *branch* of the query reads one key of one index, and SQLite merges the
branches and stops after a page. A predicate that leaves columns of its index open, for example a
module without the name of a type, becomes a branch for each key that exists.

`HasType(0x7, "shop") OR SentBy(0xA)` becomes, where the module has two types of events:

    SELECT number FROM events WHERE type_address = 0x7 AND type_module = 'shop'
                                AND type_name = 'Opened'
    UNION SELECT … AND type_name = 'Sold'
    UNION SELECT number FROM events WHERE sender = 0xA
    ORDER BY number LIMIT 64

A term without a positive predicate is a branch that reads all events in the order of the chain.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from nexus_tools.sui.localnet.ledger.database import State
from nexus_tools.sui.localnet.ledger.event_filter import EventFilter, EventLiteral

Condition = tuple[str, list[Any]]
"""A condition on a row of `events`, and its parameters."""

MAX_BRANCHES = 100
"""The most branches of a query. SQLite accepts 500, and 32 766 parameters in all of them."""


def page_query(
    state: State,
    event_filter: EventFilter | None,
    first: int,
    end: int,
    *,
    limit: int,
    descending: bool,
) -> Condition | None:
    """Return a query for the numbers of the next events, and its parameters.

    The numbers are between `first` and `end`, which is excluded. Returns None if nothing can match.
    """
    branches = _branches(state, event_filter)
    if not branches:
        return None
    selects = " UNION ".join(
        f"SELECT number FROM events WHERE number >= ? AND number < ? AND {text}"  # noqa: S608
        for text, _ in branches
    )
    parameters = [value for _, values in branches for value in (first, end, *values)]
    order = "DESC" if descending else "ASC"
    return f"{selects} ORDER BY number {order} LIMIT ?", [*parameters, limit]


def _branches(state: State, event_filter: EventFilter | None) -> list[Condition]:
    """Return conditions that SQLite can each read in the order of the chain."""
    if event_filter is None:
        return [("1", [])]
    branches: list[Condition] = []
    for term in event_filter:
        for branch in _term_branches(state, term):
            branches.append(branch)
            if len(branches) > MAX_BRANCHES:
                return [_any_term(event_filter)]
    return branches


def _term_branches(state: State, term: tuple[EventLiteral, ...]) -> Iterator[Condition]:
    text, parameters = _all_literals(term)
    predicates = [literal.predicate for literal in term if not literal.negated]
    if not predicates:
        yield text, parameters
        return
    # The predicate that leaves the fewest columns open has the fewest keys.
    best = min(predicates, key=lambda predicate: len(predicate.index) - len(predicate.columns()))
    values = list(best.columns().values())[: len(best.index)]
    for key in _keys(state, best.index, values):
        yield f"{_equal(best.index)} AND {text}", [*key, *parameters]


def _keys(state: State, index: Sequence[str], values: list[Any]) -> Iterator[list[Any]]:
    """Yield the keys of an index that begin with the values, each found by one search."""
    if len(values) == len(index):
        yield values
        return
    column = index[len(values)]
    statement = (
        f"SELECT {column} FROM events WHERE {_equal(index[: len(values)])}"  # noqa: S608
        f" AND {column} > ? ORDER BY {column} LIMIT 1"
    )
    name = ""  # no module or type has an empty name
    while row := state.row(statement, [*values, name]):
        (name,) = row
        yield from _keys(state, index, [*values, name])


# --- Conditions that no index is used for: `+` prevents it


def _any_term(event_filter: EventFilter) -> Condition:
    conditions = [_all_literals(term) for term in event_filter]
    text = " OR ".join(f"({text})" for text, _ in conditions)
    return f"+({text})", [value for _, values in conditions for value in values]


def _all_literals(term: tuple[EventLiteral, ...]) -> Condition:
    texts: list[str] = ["1"]
    parameters: list[Any] = []
    for literal in term:
        columns = literal.predicate.columns()
        texts.append(f"{'NOT ' if literal.negated else '+'}({_equal(columns)})")
        parameters += columns.values()
    return " AND ".join(texts), parameters


def _equal(columns: Sequence[str] | dict[str, Any]) -> str:
    return " AND ".join(f"{name} = ?" for name in columns)
