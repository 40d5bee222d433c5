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


def test_leader_add_list_and_remove(author, registered, carrier):
    second = author.json("leader", "register", "--name", "second", "--yes")["leader"]
    author.json("tool", "leaders", "add", registered, "second", "--yes")
    assert show(author, registered)["leaders"] == [carrier, second]
    rows = author.json("tool", "leaders", "list", registered)
    assert {row["leader"]: row["settled"] for row in rows} == {carrier: 0, second: 0}
    assert author.fails("tool", "leaders", "add", registered, second, "--yes")[1] == (
        "already_listed"
    )
    author.json("tool", "leaders", "remove", registered, "operator", "--yes")
    assert show(author, registered)["leaders"] == [second]
    last = author.run("tool", "leaders", "remove", registered, second, "--yes")
    assert f"`nexus-tools tool leaders add {registered} LEADER`" in last.stderr
    assert "accepts no leader, so it cannot be invoked" in last.stderr
    assert author.fails("tool", "leaders", "open", registered, "--yes")[1] == "accepts_any_leader"


def test_operator_may_only_remove_leaders(author, stranger, registered, carrier, second):
    author.json("tool", "operators", "add", registered, stranger.wallet.signer().address, "--yes")
    verbs = ("tool", "leaders")
    assert stranger.fails(*verbs, "add", registered, second, "--yes") == (8, "not_owner")
    author.json(*verbs, "add", registered, second, "--yes")
    stranger.json(*verbs, "remove", registered, carrier, "--yes")
    assert show(author, registered)["leaders"] == [second]


def test_free_tool_may_accept_all_leaders(author, registered, carrier):
    author.json("tool", "update", registered, "--price", "0", "--yes")
    author.json("tool", "leaders", "open", registered, "--yes")
    assert show(author, registered)["open"] is True
    listed = author.run("tool", "leaders", "list", registered)
    assert "accepts all leaders" in listed.stderr
    assert "any" in author.run("tool", "show", registered).stdout


def test_operator_may_change_price_until_removed(author, stranger, registered):
    address = stranger.wallet.signer().address
    price = ("tool", "update", registered, "--price", "0.002", "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    author.json("tool", "operators", "add", registered, address, "--yes")
    rows = [{"operator": str(address)}]
    assert author.json("tool", "operators", "list", registered) == rows
    stranger.json(*price)
    author.json("tool", "operators", "remove", registered, address, "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    assert author.json("tool", "operators", "list", registered) == []


def test_key_add_list_and_remove(author, registered, key):
    public_key = author.json("tool", "key", "show", key)["public_key"]
    author.json("tool", "key", "add", registered, key, "--yes")
    assert author.json("tool", "key", "list", registered) == [{"public_key": public_key}]
    assert show(author, registered)["keys"] == [public_key]
    author.json("tool", "key", "remove", registered, public_key, "--yes")
    assert author.json("tool", "key", "list", registered) == []


def test_signed_outcome_requires_key(author, registered, key):
    update = ("tool", "update", registered, "--yes")
    assert author.fails(*update, "--require-signed-outcome") == (7, "signing_key_missing")
    author.json("tool", "key", "add", registered, key, "--yes")
    author.json(*update, "--require-signed-outcome", "--min-outcome-bytes", "200")
    tool = show(author, registered)
    assert (tool["requires_signed_outcome"], tool["min_outcome_bytes"]) == (True, 200)
    assert tool["revision"] == 2
    shown = author.run("tool", "show", registered).stdout
    assert "signed, at least 200 bytes" in shown
    author.json(*update, "--no-require-signed-outcome")
    assert show(author, registered)["requires_signed_outcome"] is False


def test_accept_transfers_name_and_resets_operators_and_keys(
    author, stranger, registered, key, carrier
):
    name = registered.partition("@")[0]
    address = str(stranger.wallet.signer().address)
    author.json("tool", "operators", "add", registered, f"0x{0xABC:064x}", "--yes")
    author.json("tool", "key", "add", registered, key, "--yes")
    assert author.fails("tool", "offer", registered, address, "--yes") == (2, "name_expected")
    author.json("tool", "offer", name, address, "--yes")
    assert show(author, registered)["offered"] == address
    asked = stranger.run("tool", "accept", name)
    assert asked.code == 2
    assert (
        "payouts go to you, operators and keys are removed, signed answers are not" in asked.stderr
    )
    assert "tools.example.com" in asked.stdout
    taken = stranger.json("tool", "accept", name, "--yes")
    [version] = taken["versions"]
    assert version["operators"] == [f"0x{'abc':0>64}"]
    tool = show(stranger, registered)
    assert (tool["owner"], tool["payout"], tool["offered"]) == (address, address, None)
    assert (tool["operators"], tool["keys"], tool["leaders"]) == ([], [], [carrier])
    assert author.fails("tool", "unregister", registered, "--yes") == (8, "not_owner")


def test_accept_rejects_name_without_offer(author, stranger, registered):
    name = registered.partition("@")[0]
    assert stranger.fails("tool", "accept", name, "--yes") == (8, "not_offered")
    assert stranger.fails("tool", "offer", name, f"0x{0xABC:064x}", "--yes") == (8, "not_owner")
