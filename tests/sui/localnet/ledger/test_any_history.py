"""Any history of commits and reverts, compared with a dictionary and with a reloaded ledger."""

import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_tools.sui.localnet.ledger import CoinBalance, Ledger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, ObjectOwner
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI, StructTag

OWNERS = [
    AddressOwner(Address.of(0xA)),
    AddressOwner(Address.of(0xB)),
    ObjectOwner(Address.of(0xC)),
]
PARENT = StructTag(Address.of(0x77), "parent", "Parent")
NUMBERS = st.integers(1, 6)

commits = st.tuples(
    st.dictionaries(NUMBERS, st.tuples(st.sampled_from(OWNERS), st.integers(0, 99)), max_size=3),
    st.sets(NUMBERS, max_size=2),
)
# After each commit, None takes a snapshot; N drops N snapshots and reverts to the last one.
steps = st.lists(st.tuples(commits, st.none() | st.integers(0, 3)), max_size=8)


@settings(max_examples=60)
@given(steps)
def test_ledger_matches_a_model_after_any_commits_and_reverts(chain_on, history):
    with tempfile.TemporaryDirectory() as directory:
        with closing(Ledger.open(Path(directory))) as ledger:
            chain = chain_on(ledger)
            chain.commit()
            expected = replay(chain, history)
            assert ledger_view(ledger) == expected_view(expected)
            view, latest = ledger_view(ledger), ledger.latest
        with closing(Ledger.open(Path(directory))) as again:
            assert ledger_view(again) == view
            assert again.latest == latest


def replay(chain, history):
    """Apply the history to the ledger and to a dictionary, and return the dictionary."""
    model, snapshots = {}, [(chain.ledger.snapshot(), {})]
    for commit, back in history:
        commit_both(chain, model, *commit)
        if back is None:
            snapshots.append((chain.ledger.snapshot(), dict(model)))
            continue
        del snapshots[max(1, len(snapshots) - back) :]
        snapshot, earlier = snapshots[-1]
        chain.ledger.revert(snapshot)
        model = dict(earlier)
    return model


def commit_both(chain, model, written, removed):
    gone = [number for number in removed if number in model and number not in written]
    coins = [chain.coin(number, balance, owner) for number, (owner, balance) in written.items()]
    # Like the parent of dynamic fields, whose version grows each time.
    parent = chain.move_object(99, PARENT, Address.of(0xD))
    chain.commit(parent, *coins, removed=gone)
    model.update(written)
    for number in gone:
        del model[number]


def ledger_view(ledger):
    """Return the content of all indexes."""
    owned = {owner: ledger.owned_by(owner.address, GAS_COIN) for owner in OWNERS[:2]}
    owned[OWNERS[2]] = ledger.children_of(OWNERS[2].parent)
    balances = {owner: ledger.balance(owner.address, SUI) for owner in OWNERS[:2]}
    return (
        {owner: [number_and_balance(value) for value in owned[owner]] for owner in OWNERS},
        balances,
        [number_and_balance(value) for value in existing_coins(ledger)],
    )


def existing_coins(ledger):
    """Return all possible coins by ID, of all owners."""
    return filter(None, (ledger.get(Address.of(number)) for number in range(1, 7)))


def expected_view(model):
    """Return the same from a dictionary: coins from the largest on, dynamic fields by ID."""
    by_owner = {
        owner: sorted(
            ((n, balance) for n, (held_by, balance) in model.items() if held_by == owner),
            key=None if owner == OWNERS[2] else largest_first,
        )
        for owner in OWNERS
    }
    balances = {
        owner: CoinBalance(sum(balance for _, balance in by_owner[owner]), len(by_owner[owner]))
        for owner in OWNERS[:2]
    }
    all_coins = [(n, balance) for n, (_, balance) in model.items()]
    return by_owner, balances, sorted(all_coins)


def largest_first(coin):
    number, balance = coin
    return -balance, number


def number_and_balance(value):
    contents = value.data.contents
    return int.from_bytes(contents[:32], "big"), int.from_bytes(contents[32:], "little")
