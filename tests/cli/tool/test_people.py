"""Which leaders a tool accepts, who runs it, which keys sign for it, and who owns it."""

import pytest


@pytest.fixture
def key(author, tmp_path):
    """The file of a signing key."""
    file = tmp_path / "tool.pem"
    author.json("tool", "key", "new", file)
    return file


@pytest.fixture
def second(author):
    """The id of another leader."""
    return author.json("leader", "register", "--yes")["leader"]


def show(user, fqn):
    return user.json("tool", "show", fqn)


def test_leader_add_list_and_remove(author, registered_fqn, operator_leader):
    second = author.json("leader", "register", "--name", "second", "--yes")["leader"]
    author.json("tool", "leaders", "add", registered_fqn, "second", "--yes")
    assert show(author, registered_fqn)["leaders"] == [operator_leader, second]
    rows = author.json("tool", "leaders", "list", registered_fqn)
    assert {row["leader"]: row["settled"] for row in rows} == {operator_leader: 0, second: 0}
    assert author.fails("tool", "leaders", "add", registered_fqn, second, "--yes")[1] == (
        "already_listed"
    )
    author.json("tool", "leaders", "remove", registered_fqn, "operator", "--yes")
    assert show(author, registered_fqn)["leaders"] == [second]
    last = author.run("tool", "leaders", "remove", registered_fqn, second, "--yes")
    assert f"`nexus-tools tool leaders add {registered_fqn} LEADER`" in last.stderr
    assert "does not accept any leader, so it cannot be invoked" in last.stderr
    assert (
        author.fails("tool", "leaders", "open", registered_fqn, "--yes")[1] == "accepts_any_leader"
    )


def test_operator_may_only_remove_leaders(
    author, stranger, registered_fqn, operator_leader, second
):
    author.json(
        "tool", "operators", "add", registered_fqn, stranger.wallet.signer().address, "--yes"
    )
    verbs = ("tool", "leaders")
    assert stranger.fails(*verbs, "add", registered_fqn, second, "--yes") == (8, "not_owner")
    author.json(*verbs, "add", registered_fqn, second, "--yes")
    stranger.json(*verbs, "remove", registered_fqn, operator_leader, "--yes")
    assert show(author, registered_fqn)["leaders"] == [second]


def test_free_tool_may_accept_all_leaders(author, registered_fqn, operator_leader):
    author.json("tool", "update", registered_fqn, "--price", "0", "--yes")
    author.json("tool", "leaders", "open", registered_fqn, "--yes")
    assert show(author, registered_fqn)["open"] is True
    listed = author.run("tool", "leaders", "list", registered_fqn)
    assert "accepts all leaders" in listed.stderr
    assert "any" in author.run("tool", "show", registered_fqn).stdout


def test_operator_may_change_price_until_removed(author, stranger, registered_fqn):
    address = stranger.wallet.signer().address
    price = ("tool", "update", registered_fqn, "--price", "0.002", "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    author.json("tool", "operators", "add", registered_fqn, address, "--yes")
    rows = [{"operator": str(address)}]
    assert author.json("tool", "operators", "list", registered_fqn) == rows
    stranger.json(*price)
    author.json("tool", "operators", "remove", registered_fqn, address, "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    assert author.json("tool", "operators", "list", registered_fqn) == []


def test_key_add_list_and_remove(author, registered_fqn, key):
    public_key = author.json("tool", "key", "show", key)["public_key"]
    author.json("tool", "key", "add", registered_fqn, key, "--yes")
    assert author.json("tool", "key", "list", registered_fqn) == [{"public_key": public_key}]
    assert show(author, registered_fqn)["keys"] == [public_key]
    author.json("tool", "key", "remove", registered_fqn, public_key, "--yes")
    assert author.json("tool", "key", "list", registered_fqn) == []


def test_signed_outcome_requires_key(author, registered_fqn, key):
    update = ("tool", "update", registered_fqn, "--yes")
    assert author.fails(*update, "--require-signed-outcome") == (7, "signing_key_missing")
    author.json("tool", "key", "add", registered_fqn, key, "--yes")
    author.json(*update, "--require-signed-outcome", "--min-outcome-bytes", "200")
    tool = show(author, registered_fqn)
    assert (tool["requires_signed_outcome"], tool["min_outcome_bytes"]) == (True, 200)
    assert tool["revision"] == 2
    shown = author.run("tool", "show", registered_fqn).stdout
    assert "signed, at least 200 bytes" in shown
    author.json(*update, "--no-require-signed-outcome")
    assert show(author, registered_fqn)["requires_signed_outcome"] is False


def test_accept_transfers_name_and_resets_operators_and_keys(
    author, stranger, registered_fqn, key, operator_leader
):
    name = registered_fqn.partition("@")[0]
    address = str(stranger.wallet.signer().address)
    author.json("tool", "operators", "add", registered_fqn, f"0x{0xABC:064x}", "--yes")
    author.json("tool", "key", "add", registered_fqn, key, "--yes")
    assert author.fails("tool", "offer", registered_fqn, address, "--yes") == (2, "name_expected")
    author.json("tool", "offer", name, address, "--yes")
    assert show(author, registered_fqn)["pending_owner"] == address
    asked = stranger.run("tool", "accept", name)
    assert asked.code == 2
    assert "You receive the payouts. The operators and keys are removed" in asked.stderr
    assert "tools.example.com" in asked.stdout
    taken = stranger.json("tool", "accept", name, "--yes")
    [version] = taken["versions"]
    assert version["operators"] == [f"0x{'abc':0>64}"]
    tool = show(stranger, registered_fqn)
    assert (tool["owner"], tool["payout"], tool["pending_owner"]) == (address, address, None)
    assert (tool["operators"], tool["keys"], tool["leaders"]) == ([], [], [operator_leader])
    assert author.fails("tool", "unregister", registered_fqn, "--yes") == (8, "not_owner")


def test_accept_rejects_name_without_offer(author, stranger, registered_fqn):
    name = registered_fqn.partition("@")[0]
    assert stranger.fails("tool", "accept", name, "--yes") == (8, "not_offered")
    assert stranger.fails("tool", "offer", name, f"0x{0xABC:064x}", "--yes") == (8, "not_owner")
