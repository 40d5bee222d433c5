"""Lists of events, transactions and checkpoints, and their continuation."""

import grpc
import pytest

ITEM_LIMIT, SCAN_LIMIT, CHECKPOINT_BOUND, CURSOR_BOUND, LEDGER_TIP = range(1, 6)
DESCENDING = 1


@pytest.fixture
def settings_changed(published):
    """Return a filter for the events of `configure`."""
    name = f"{published.package}::tool_registry::ToolSettingsChanged"
    return {"terms": [{"literals": [{"event_type": {"event_type": name}}]}]}


@pytest.fixture
def amounts(client, alice, published):
    """Emit five events, each in its own transaction."""
    found = [11, 12, 13, 14, 15]
    for amount in found:
        assert published.configure(client, alice, amount).effects.status.success
    return found


def amount_of(frame):
    settings = frame.event.json.struct_value.fields["settings"].struct_value
    return int(settings.fields["max_schema_bytes"].string_value)


def list_items(client, **fields):
    frames = list(client.stream("LedgerService/ListEvents", "json", **fields))
    assert [frame.HasField("end") for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert all(frame.watermark.cursor for frame in frames)
    found = [amount_of(frame) for frame in frames if frame.HasField("event")]
    return found, frames[-1].end.reason, frames[-1].watermark


def test_events_are_listed_in_chain_order(client, amounts, settings_changed):
    found, reason, _ = list_items(client, filter=settings_changed)
    assert (found, reason) == (amounts, LEDGER_TIP)


def test_events_are_listed_in_descending_order(client, amounts, settings_changed):
    options = {"ordering": DESCENDING}
    found, reason, _ = list_items(client, filter=settings_changed, options=options)
    assert (found, reason) == (amounts[::-1], CHECKPOINT_BOUND)


def test_list_continues_from_any_cursor_without_loss_or_repetition(
    client, amounts, settings_changed
):
    found, cursor = [], None
    while True:
        options = {"limit": 2, "after": cursor}
        page, reason, mark = list_items(client, filter=settings_changed, options=options)
        found += page
        cursor = mark.cursor
        if reason != ITEM_LIMIT:
            break
    assert found == amounts
    assert reason == LEDGER_TIP


@pytest.mark.usefixtures("amounts")
def test_list_continues_backward_from_any_cursor(client, settings_changed):
    options = {"limit": 2, "ordering": DESCENDING}
    first, reason, mark = list_items(client, filter=settings_changed, options=options)
    assert (first, reason) == ([15, 14], ITEM_LIMIT)
    options["before"] = mark.cursor
    assert list_items(client, filter=settings_changed, options=options)[0] == [13, 12]


@pytest.mark.usefixtures("amounts")
def test_list_that_reached_the_tip_continues_with_later_items(
    client, alice, published, settings_changed
):
    _, _, mark = list_items(client, filter=settings_changed)
    options = {"after": mark.cursor}
    assert list_items(client, filter=settings_changed, options=options)[:2] == ([], LEDGER_TIP)
    published.configure(client, alice, 16)
    assert list_items(client, filter=settings_changed, options=options)[:2] == ([16], LEDGER_TIP)


@pytest.mark.usefixtures("amounts")
def test_last_item_contains_the_end_when_the_limit_is_reached(client, settings_changed):
    frames = list(
        client.stream(
            "LedgerService/ListEvents", "json", filter=settings_changed, options={"limit": 5}
        )
    )
    assert len(frames) == 5
    assert frames[-1].end.reason == ITEM_LIMIT


def test_checkpoints_bound_a_list(client, alice, published, settings_changed):
    first = published.configure(client, alice, 1).checkpoint
    second = published.configure(client, alice, 2).checkpoint
    bounds = {"start_checkpoint": first, "end_checkpoint": second}
    found, reason, mark = list_items(client, filter=settings_changed, **bounds)
    assert (found, reason, mark.checkpoint) == ([1], CHECKPOINT_BOUND, second - 1)


def test_event_contains_its_content_and_position(client, alice, published):
    executed = published.configure(client, alice, 5)
    after = {"start_checkpoint": executed.checkpoint}
    frame, _ = client.stream("LedgerService/ListEvents", "*", **after)
    event = frame.event
    assert event.package_id == str(published.package)
    assert event.module == "tool_registry"  # the module of the command, not of `emit`
    assert event.sender == str(alice.address)
    assert event.contents.name == event.event_type
    assert event.contents.value[-8:] == (5).to_bytes(8, "little")
    assert (event.checkpoint, event.event_index) == (executed.checkpoint, 0)
    assert event.transaction_digest == executed.digest
    assert event.transaction_index == executed.transaction_index
    assert event == executed.events.events[0]


def literal(name, negated=False, **fields):
    return {name: fields, "negated": negated}


@pytest.mark.parametrize(
    ("terms", "count"),
    [
        ([[literal("sender", address="{alice}")]], 5),
        ([[literal("sender", address="0xb0b")]], 0),
        ([[literal("sender", address="0xb0b", negated=True)]], 5),
        ([[literal("emit_module", module="{package}")]], 5),
        ([[literal("emit_module", module="{package}::tool_registry")]], 5),
        ([[literal("emit_module", module="{package}::tool")]], 0),
        ([[literal("event_type", event_type="{package}::tool_registry")]], 5),
        ([[literal("event_type", event_type="{package}::tool::ToolRegistered")]], 0),
        ([[literal("sender", address="0xb0b")], [literal("sender", address="{alice}")]], 5),
        ([[literal("sender", address="0xb0b"), literal("sender", address="{alice}")]], 0),
    ],
)
@pytest.mark.usefixtures("amounts")
def test_filters_are_terms_of_literals(client, alice, published, terms, count):
    start = client.call("LedgerService/GetTransaction", "checkpoint", digest=published.digest)
    names = {"alice": alice.address, "package": published.package}
    filled = [
        {
            "literals": [
                {
                    name: value
                    if name == "negated"
                    else {key: text.format(**names) for key, text in value.items()}
                    for name, value in entry.items()
                }
                for entry in term
            ]
        }
        for term in terms
    ]
    found, _, _ = list_items(
        client,
        filter={"terms": filled},
        start_checkpoint=start.transaction.checkpoint + 1,
    )
    assert len(found) == count


@pytest.mark.parametrize(
    "bad",
    [
        {"terms": []},
        {"terms": [{"literals": [{}]}]},
        {"terms": [{"literals": [{"event_type": {}}]}]},
        {"terms": [{"literals": [{"event_type": {"event_type": "0x2::a::b::c"}}]}]},
        {"terms": [{"literals": [{"emit_module": {"module": "two::colons"}}]}]},
        {"terms": [{"literals": [{"sender": {"address": "me"}}]}]},
        {"terms": [{"literals": [{"sender": {"address": "0x1"}}] * 65}]},
    ],
)
def test_invalid_filter_is_refused(client, bad):
    with pytest.raises(grpc.RpcError) as caught:
        list(client.stream("LedgerService/ListEvents", filter=bad))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_transactions_are_filtered_by_called_function(client, published, amounts):
    function = f"{published.package}::tool_registry::configure"
    frames = list(
        client.stream(
            "LedgerService/ListTransactions",
            "digest",
            "checkpoint",
            filter={"terms": [{"literals": [{"move_call": {"function": function}}]}]},
        )
    )
    assert len([frame for frame in frames if frame.HasField("transaction")]) == len(amounts)
    assert frames[-1].end.reason == LEDGER_TIP


@pytest.mark.parametrize(
    "found",
    [
        {"affected_object": {"object_id": "{registry}"}},
        {"affected_address": {"address": "{alice}"}},
        {"event_type": {"event_type": "{package}::tool_registry::ToolSettingsChanged"}},
        {"emit_module": {"module": "{package}::tool_registry"}},
        {"sender": {"address": "{alice}"}},
    ],
    ids=lambda found: next(iter(found)),
)
def test_transactions_are_filtered_by_changed_objects(client, alice, published, found):
    executed = published.configure(client, alice, 5)
    names = {
        "registry": published.registry,
        "alice": alice.address,
        "package": published.package,
    }
    filled = {
        name: {key: text.format(**names) for key, text in value.items()}
        for name, value in found.items()
    }
    fields = {"start_checkpoint": executed.checkpoint}
    wanted = {"terms": [{"literals": [filled]}]}
    frames = list(client.stream("LedgerService/ListTransactions", filter=wanted, **fields))
    assert [frame.transaction.digest for frame in frames[:-1]] == [executed.digest]
    filled["negated"] = True
    frames = list(client.stream("LedgerService/ListTransactions", filter=wanted, **fields))
    assert executed.digest not in [frame.transaction.digest for frame in frames]


def test_publications_are_found_among_transactions(client, published):
    wanted = {"terms": [{"literals": [{"package_write": {}}]}]}
    frames = client.stream("LedgerService/ListTransactions", filter=wanted)
    assert published.digest in [frame.transaction.digest for frame in frames]


def test_checkpoints_are_listed_without_gaps(client, alice, published):
    published.configure(client, alice, 5)
    frames = list(client.stream("LedgerService/ListCheckpoints", options={"limit": 1000}))
    numbers = [frame.checkpoint.sequence_number for frame in frames[:-1]]
    assert numbers == list(range(len(numbers)))
    assert [frame.watermark.checkpoint for frame in frames[:-1]] == numbers
    assert frames[-1].end.reason == LEDGER_TIP


def test_checkpoints_are_filtered_by_their_transactions(client, alice, published):
    executed = published.configure(client, alice, 5)
    function = f"{published.package}::tool_registry::configure"
    frames = list(
        client.stream(
            "LedgerService/ListCheckpoints",
            filter={"terms": [{"literals": [{"move_call": {"function": function}}]}]},
        )
    )
    assert [frame.checkpoint.sequence_number for frame in frames[:-1]] == [executed.checkpoint]


def test_cursor_of_another_list_is_refused(client):
    frames = list(client.stream("LedgerService/ListCheckpoints", options={"limit": 1}))
    with pytest.raises(grpc.RpcError) as caught:
        list(
            client.stream("LedgerService/ListEvents", options={"after": frames[0].watermark.cursor})
        )
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
