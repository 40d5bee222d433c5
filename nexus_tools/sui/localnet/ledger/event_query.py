"""The query for a page of filtered events, whose cost does not depend on the number of matches.

An index of `events` lists the rows of one key, for example all rows of one type, in the order of
the chain. Each *branch* of the query reads one key of one index. SQLite merges the branches and
stops after a page. If a predicate does not specify all columns of its index, for example a module
but no type name, each existing key becomes a branch. One index is by sender and type, so a term
with both predicates does not read the other senders' events.

For example, if the module `shop` has two event types, `HasType(0x7, "shop") OR SentBy(0xA)`
becomes:

    SELECT number FROM events WHERE type_address = 0x7 AND type_module = 'shop'
                                AND type_name = 'Opened'
    UNION SELECT … AND type_name = 'Sold'
    UNION SELECT number FROM events WHERE sender = 0xA
    ORDER BY number LIMIT 64

If a term has only negated predicates, its branch reads all events in the order of the chain.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from nexus_tools.sui.localnet.ledger.database import State
from nexus_tools.sui.localnet.ledger.event_filter import (
    EventFilter,
    EventLiteral,
    EventPredicate,
    HasType,
    SentBy,
)

Condition = tuple[str, list[Any]]
"""A condition on a row of `events`, and its parameters."""

MAX_BRANCHES = 100
"""The maximum number of branches. SQLite accepts 500 branches with 32 766 parameters in total."""


def page_query(
    state: State,
    event_filter: EventFilter | None,
    first: int,
    end: int,
    *,
    limit: int,
    descending: bool,
) -> Condition | None:
    """Return an SQL query for the row numbers of a page of events, and the parameters of the query.

    The row numbers are at least `first` and less than `end`. Return None if no event can match.
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
    """Return conditions. SQLite can read the rows of each condition in chain order."""
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
    keys = _index_keys([literal.predicate for literal in term if not literal.negated])
    if not keys:
        yield text, parameters
        return
    # The key that omits the fewest columns of its index, and then the longest key, has the fewest
    # rows.
    index, values = min(keys, key=lambda key: (len(key[0]) - len(key[1]), -len(key[0])))
    for key in _keys(state, index, values):
        yield f"{_equal(index)} AND {text}", [*key, *parameters]


def _index_keys(predicates: Sequence[EventPredicate]) -> list[tuple[Sequence[str], list[Any]]]:
    """Return the columns of each usable index, and the values of its first columns."""
    keys = [_index_key(predicate) for predicate in predicates]
    senders = [_index_key(predicate) for predicate in predicates if isinstance(predicate, SentBy)]
    types = [_index_key(predicate) for predicate in predicates if isinstance(predicate, HasType)]
    for columns, values in senders[:1]:
        keys += [((*columns, *of_type), [*values, *rest]) for of_type, rest in types]
    return keys


def _index_key(predicate: EventPredicate) -> tuple[Sequence[str], list[Any]]:
    return predicate.index, [*predicate.columns().values()][: len(predicate.index)]


def _keys(state: State, index: Sequence[str], values: list[Any]) -> Iterator[list[Any]]:
    """Yield the existing keys of an index with these first values, with a query per key."""
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


# --- Conditions for which the prefix `+` prevents SQLite from using an index


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
