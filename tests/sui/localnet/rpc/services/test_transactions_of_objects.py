"""Lists of the transactions that changed an object, which come from an index of the ledger."""

import pytest

from nexus_tools.sui.localnet.ledger import Ledger, chain
from nexus_tools.sui.localnet.rpc.services import history
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import SUI

CHECKPOINT_BOUND, SCAN_LIMIT, ITEM_LIMIT = 3, 2, 1
DESCENDING = 1


def affected(object_id, negated=False):
    return {"affected_object": {"object_id": str(object_id)}, "negated": negated}


def sender(address, negated=False):
    return {"sender": {"address": str(address)}, "negated": negated}


def list_transactions(client, *terms, **options):
    """Return the digests, the reason of the end, and the last cursor."""
    frames = list(
        client.stream(
            "LedgerService/ListTransactions",
            "digest",
            filter={"terms": [{"literals": literals} for literals in terms]},
            options={"limit": 1_000, **options},
        )
    )
    found = [frame.transaction.digest for frame in frames if frame.HasField("transaction")]
    return found, frames[-1].end.reason, frames[-1].watermark.cursor


@pytest.fixture
def changed(localnet, client, alice, bob, published):
    """Change the registry five times, and pay to an address balance. Return all transactions."""
    for amount in range(11, 16):
        assert published.configure(client, alice, amount).effects.status.success
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [5])[0]
    balance = builder.move_call(SUI_FRAMEWORK, "coin", "into_balance", [coin], [SUI])
    recipient = builder.address(bob.address)
    builder.move_call(SUI_FRAMEWORK, "balance", "send_funds", [balance, recipient], [SUI])
    assert alice.execute(client, builder).effects.status.success
    return localnet.call(lambda net: net.node.ledger.transactions(0, 10_000))


@pytest.mark.parametrize("ordering", [0, DESCENDING])
def test_list_has_each_change_of_each_object(client, changed, ordering):
    digests = {}
    for executed in changed[:: -1 if ordering else 1]:
        for object_id in dict.fromkeys(key for key, _ in executed.effects.changed_objects):
            digests.setdefault(object_id, []).append(str(executed.digest))
    assert max(map(len, digests.values())) > 5
    recent = {key for executed in changed[-8:] for key, _ in executed.effects.changed_objects}
    for object_id in recent:
        found, _, _ = list_transactions(client, [affected(object_id)], ordering=ordering)
        assert found == digests[object_id]


def test_terms_with_objects_keep_their_other_literals(client, changed, alice, published):
    mine = [str(executed.digest) for executed in changed if executed.data.sender == alice.address]
    of_registry, _, _ = list_transactions(client, [affected(published.registry)])
    cap = affected(published.upgrade_cap)
    both, _, _ = list_transactions(client, [affected(published.registry)], [cap])
    assert set(both) == {published.digest, *of_registry}
    others = [affected(published.registry), sender(alice.address, negated=True)]
    assert list_transactions(client, others)[0] == []
    unaffected, _, _ = list_transactions(
        client, [affected(published.registry, negated=True), sender(alice.address)]
    )
    assert unaffected == [digest for digest in mine if digest not in of_registry]


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("ordering", [0, DESCENDING])
def test_list_continues_without_loss_or_repetition(client, published, ordering):
    wanted = [affected(published.registry)]
    everything, _, _ = list_transactions(client, wanted, ordering=ordering)
    found, cursor = [], None
    while True:
        bound = {"before" if ordering else "after": cursor}
        page, reason, cursor = list_transactions(
            client, wanted, limit=2, ordering=ordering, **bound
        )
        found += page
        if reason != ITEM_LIMIT:
            break
    assert found == everything


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("ordering", [0, DESCENDING])
def test_scan_limit_leaves_a_cursor_to_continue(client, alice, published, monkeypatch, ordering):
    wanted = [affected(published.registry), sender(alice.address)]
    everything, _, _ = list_transactions(client, wanted, ordering=ordering)
    monkeypatch.setattr(history, "SCAN_LIMIT", 2)
    monkeypatch.setattr(history, "_STEP", 2)
    found, cursor, reason = [], None, SCAN_LIMIT
    while reason == SCAN_LIMIT:
        bound = {"before" if ordering else "after": cursor}
        page, reason, cursor = list_transactions(client, wanted, ordering=ordering, **bound)
        assert len(page) <= 3  # the scan limit, and the rest of a checkpoint
        found += page
    assert found == everything


def test_list_of_an_object_reads_no_checkpoints(
    localnet, client, alice, bob, published, monkeypatch
):
    calls = []
    read_checkpoint, read_transactions = Ledger.checkpoint, chain.read_transactions

    def counting_checkpoint(self, number):
        calls.append(number)
        return read_checkpoint(self, number)

    def counting_transactions(state, first, count):
        calls.append(first)
        return read_transactions(state, first, count)

    def cost():
        calls.clear()
        options = {"limit": 3, "ordering": DESCENDING}
        found, _, _ = list_transactions(client, [affected(published.registry)], **options)
        assert len(found) == 3
        return len(calls)

    for amount in range(3):
        published.configure(client, alice, amount)
    monkeypatch.setattr(Ledger, "checkpoint", counting_checkpoint)
    monkeypatch.setattr(chain, "read_transactions", counting_transactions)
    short = cost()
    for _ in range(30):
        localnet.fund(bob.address, 1)
    assert cost() == short
