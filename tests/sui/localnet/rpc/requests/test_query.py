"""Bounds, cursors and watermarks of queries, computed by hand from the docs of `sui.rpc.v2`."""

import pytest

from nexus_tools.sui.localnet.ledger import EventPosition
from nexus_tools.sui.localnet.rpc.interface import RpcError
from nexus_tools.sui.localnet.rpc.requests.cursor import Cursor
from nexus_tools.sui.localnet.rpc.requests.query import End, Query

DESCENDING = 1


@pytest.fixture
def parse(messages):
    request_of = messages.message("sui.rpc.v2.ListEventsRequest")

    def parse(latest=9, **fields):
        return Query.parse("events", request_of(**fields), latest)

    return parse


@pytest.fixture
def watermark(messages):
    return messages.message("sui.rpc.v2.Watermark")


def item(*numbers):
    return Cursor("events", EventPosition(*numbers), is_boundary=False).encode()


def boundary(*numbers):
    return Cursor("events", EventPosition(*numbers), is_boundary=True).encode()


def test_open_query_ends_at_the_ledger_tip(parse):
    query = parse()
    assert (query.start, query.end) == ((0, 0, 0), (10, 0, 0))
    assert query.exhaustion is End.LEDGER_TIP
    assert parse(options={"ordering": DESCENDING}).exhaustion is End.CHECKPOINT_BOUND


def test_end_checkpoint_is_exclusive_and_bounds_an_ascending_query(parse):
    query = parse(start_checkpoint=2, end_checkpoint=4)
    assert list(query.checkpoints) == [2, 3]
    assert query.exhaustion is End.CHECKPOINT_BOUND


def test_end_checkpoint_after_the_tip_is_the_tip(parse):
    query = parse(end_checkpoint=100)
    assert query.end == (10, 0, 0)
    assert query.exhaustion is End.LEDGER_TIP


def test_after_excludes_an_item_but_nothing_after_a_boundary(parse):
    assert EventPosition(3, 1, 2) not in parse(options={"after": item(3, 1, 2)})
    assert EventPosition(3, 1, 3) in parse(options={"after": item(3, 1, 2)})
    assert EventPosition(3, 1, 2) in parse(options={"after": boundary(3, 1, 2)})


def test_before_excludes_the_item_and_all_later_ones_in_either_order(parse):
    for ordering in (0, DESCENDING):
        query = parse(options={"before": item(3, 1, 2), "ordering": ordering})
        assert EventPosition(3, 1, 1) in query
        assert EventPosition(3, 1, 2) not in query
    assert query.exhaustion is End.CHECKPOINT_BOUND
    assert parse(options={"before": item(3, 1, 2)}).exhaustion is End.CURSOR_BOUND


def test_query_that_starts_at_the_tip_is_empty_and_keeps_its_position(parse, watermark):
    query = parse(options={"after": boundary(10)})
    assert query.is_empty
    mark = watermark()
    query.mark_end(mark, None)
    assert mark.cursor == boundary(10)
    assert not mark.HasField("checkpoint")


def test_item_covers_the_checkpoints_before_its_own(parse, watermark):
    ascending, descending = watermark(), watermark()
    parse().mark_item(ascending, EventPosition(5, 0, 1))
    parse(options={"ordering": DESCENDING}).mark_item(descending, EventPosition(5, 0, 1))
    assert (ascending.checkpoint, descending.checkpoint) == (4, 6)
    assert ascending.cursor == descending.cursor == item(5, 0, 1)


def test_first_checkpoint_of_a_query_is_not_covered_by_its_items(parse, watermark):
    mark = watermark()
    parse(start_checkpoint=5).mark_item(mark, EventPosition(5, 2, 1))
    assert not mark.HasField("checkpoint")


def test_end_of_a_query_covers_its_last_checkpoint(parse, watermark):
    ascending, descending = watermark(), watermark()
    parse().mark_end(ascending, None)
    parse(start_checkpoint=2, options={"ordering": DESCENDING}).mark_end(descending, None)
    assert (ascending.checkpoint, ascending.cursor) == (9, boundary(10))
    assert (descending.checkpoint, descending.cursor) == (2, boundary(2))


def test_stopped_query_continues_from_its_frontier(parse, watermark):
    mark = watermark()
    parse().mark_frontier(mark, 6)
    assert mark.checkpoint == 5
    assert parse(options={"after": mark.cursor}).start == (6, 0, 0)
    parse(options={"ordering": DESCENDING}).mark_frontier(mark, 6)
    assert mark.checkpoint == 7
    assert parse(options={"before": mark.cursor, "ordering": DESCENDING}).entry == 6


@pytest.mark.parametrize(
    "fields",
    [
        {"options": {"after": b"x"}},
        {"options": {"before": b"e" + b"\xff" * 24}},
        {"options": {"after": Cursor("checkpoints", EventPosition(1), is_boundary=False).encode()}},
        {"options": {"ordering": 7}},
        {"start_checkpoint": 3, "end_checkpoint": 2},
    ],
)
def test_invalid_options_are_refused(parse, fields):
    with pytest.raises(RpcError):
        parse(**fields)


@pytest.mark.parametrize(("limit", "given"), [(None, 100), (0, 1), (7, 7), (4_000_000_000, 1000)])
def test_limit_is_between_1_and_1000(parse, limit, given):
    assert parse(options={"limit": limit}).limit == given


def test_largest_numbers_are_accepted(parse):
    assert parse(start_checkpoint=2**64 - 1).is_empty
