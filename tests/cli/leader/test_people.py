"""Workers, keys and owners of a leader, and the view of other accounts."""

import pytest


@pytest.fixture
def leader(author):
    """The id of a leader that the author registered."""
    return author.json("leader", "register", "--name", "mine", "--yes")["leader"]


@pytest.fixture
def key(author, tmp_path):
    """The file of a signing key."""
    file = tmp_path / "leader.pem"
    author.json("leader", "key", "new", file)
    return file


def status(user):
    [row] = user.json("leader", "status")
    return row


def test_worker_add_list_and_remove(author, stranger, leader):
    address = str(stranger.wallet.signer().address)
    own = author.json("wallet", "show")["address"]
    author.json("leader", "worker", "add", address, "--yes")
    rows = author.json("leader", "worker", "list")
    assert [row["worker"] for row in rows] == [own, address]
    assert rows[1]["balance_mist"] == 20_000_000_000
    assert status(author)["balance_mist"] == min(row["balance_mist"] for row in rows)
    assert author.fails("leader", "worker", "add", address, "--yes")[1] == "already_listed"
    author.json("leader", "worker", "remove", address, "--yes")
    assert [row["worker"] for row in author.json("leader", "worker", "list")] == [own]
    assert author.fails("leader", "worker", "remove", address, "--yes") == (3, "not_listed")


def test_register_with_workers(author):
    account, _ = author.wallet.new("machine")
    author.json("leader", "register", "--worker", "machine", "--yes")
    assert status(author)["workers"] == [str(account.address)]


def test_owner_alone_changes_workers_and_keys(author, stranger, leader, key):
    worker = stranger.wallet.signer().address
    author.json("leader", "worker", "add", worker, "--yes")
    for verb in (("worker", "add", f"0x{0xABC:064x}"), ("key", "add", key), ("deactivate",)):
        refused = stranger.fails("leader", *verb, "--leader", leader, "--yes")
        assert refused == (8, "not_owner")


def test_key_add_list_and_remove(author, leader, key, tmp_path):
    public_key = author.json("leader", "key", "show", key)["public_key"]
    assert author.json("leader", "key", "add", key, "--yes")["public_key"] == public_key
    other = tmp_path / "other.pem"
    second = author.json("leader", "key", "new", other)["public_key"]
    author.json("leader", "key", "add", second, "--yes")
    rows = [{"public_key": public_key}, {"public_key": second}]
    assert author.json("leader", "key", "list") == rows
    author.json("leader", "key", "remove", public_key, "--yes")
    assert author.json("leader", "key", "list") == rows[1:]
    refused = author.fails("leader", "key", "remove", public_key, "--yes")
    assert refused == (3, "unknown_key")


def test_invalid_key_is_rejected(author, leader):
    assert author.fails("leader", "key", "add", "ed25519:00", "--yes") == (7, "public_key_invalid")


def test_accept_transfers_leader_and_removes_workers_and_keys(author, stranger, leader, key):
    author.json("leader", "key", "add", key, "--yes")
    address = str(stranger.wallet.signer().address)
    assert stranger.fails("leader", "accept", "--yes") == (3, "leader_missing")
    author.json("leader", "offer", address, "--yes")
    assert status(author)["pending_owner"] == address
    [offer] = stranger.json("status")["offers"]
    assert (offer["kind"], offer["name"]) == ("leader", "mine")
    assert offer["accept"] == f"nexus-tools leader accept --leader {leader}"
    asked = stranger.run("leader", "accept")
    assert "1 workers and 1 keys of the former owner are removed" in asked.stderr
    taken = stranger.json("leader", "accept", "--yes")
    assert taken["workers_removed"] == [author.json("wallet", "show")["address"]]
    seen = status(stranger)
    assert (seen["workers"], seen["keys"], seen["state"]) == ([address], [], "active")
    assert author.json("leader", "status") == []


def test_offer_can_be_cancelled(author, stranger, leader):
    author.json("leader", "offer", stranger.wallet.signer().address, "--yes")
    author.json("leader", "offer", "--cancel", "--yes")
    assert status(author)["pending_owner"] is None
    assert stranger.fails("leader", "accept", "--leader", leader, "--yes") == (8, "not_offered")


def test_list_shows_all_and_accepted_leaders(stranger, leader, registered_fqn, operator_leader):
    rows = {row["leader"]: row for row in stranger.json("leader", "list")}
    assert rows.keys() >= {leader, operator_leader}
    mine = rows[leader]
    assert (mine["name"], mine["state"]) == ("mine", "active")
    assert (mine["settled"], mine["failed"], mine["missed"]) == (0, 0, 0)
    assert mine["latency_ms"] is None
    accepted = stranger.json("leader", "list", "--tool", registered_fqn)
    assert [row["leader"] for row in accepted] == [operator_leader]


def test_status_shows_only_own_leaders(author, stranger, leader):
    assert author.json("leader", "status", "--leader", "mine")[0]["leader"] == leader
    assert stranger.fails("leader", "status", "--leader", "mine") == (3, "leader_unknown")


def test_status_is_readable_without_a_terminal(author, leader):
    shown = author.run("leader", "status").stdout
    assert leader in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_list_active_hides_inactive_leaders(author, leader):
    author.json("leader", "deactivate", "--yes")
    active = author.json("leader", "list", "--active")
    assert leader not in [row["leader"] for row in active]
    assert len(author.json("leader", "list", "--limit", "1")) == 1


def test_list_prints_track_record(author, leader):
    shown = author.run("leader", "list").stdout
    assert all(word in shown for word in ("Settled", "Failed", "Missed", "Latency", "mine"))
