"""The verbs of the admin, and of owners for their operators."""

import pytest


@pytest.fixture
def leader(author):
    return author.json("leader", "register", "--inactive", "--yes")["leader"]


def show(user, fqn):
    return user.json("tool", "show", fqn)


def test_a_tool_is_slashed_and_topped_up(publisher, author, registered):
    document = publisher.json("admin", "slash", registered, "0.4", "--reason", "lied", "--yes")
    assert document["amount_mist"] == 400_000_000
    assert "ToolSlashed" in document["events"]
    assert show(author, registered)["state"] == "suspended"
    assert author.json("tool", "top-up", registered, "--yes")["amount_mist"] == 400_000_000


def test_a_leader_is_slashed(publisher, author, leader):
    publisher.json("admin", "slash", leader, "3", "--reason", "lied", "--yes")
    [row] = author.json("leader", "status")
    assert (row["state"], row["collateral_mist"]) == ("suspended", 7_000_000_000)


def test_only_the_admin_slashes(author, registered):
    code, _ = author.fails("admin", "slash", registered, "1", "--reason", "envy", "--yes")
    assert code == 8


def test_settings_are_changed_one_by_one(publisher):
    for number in (6_000, 500):
        document = publisher.json(
            "admin", "configure", "tools", f"min_timeout_ms={number}", "--yes"
        )
        assert document["min_timeout_ms"] == str(number)
        assert "ToolSettingsChanged" in document["events"]
    document = publisher.json("admin", "configure", "leaders", "grace_ms=15000", "--dry-run")
    assert "LeaderSettingsChanged" in document["events"]


@pytest.mark.parametrize("change", ["colateral_mist=1", "collateral_mist", "collateral_mist=-1"])
def test_what_is_no_setting_is_refused_with_those_that_are(publisher, change):
    result = publisher.run("admin", "configure", "tools", change, "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "setting_unknown")
    assert "collateral_mist" in result.error["hint"]


def test_an_operator_may_change_the_price_until_the_owner_takes_that_back(
    author, stranger, registered
):
    address = stranger.wallet.signer().address
    price = ("tool", "update", registered, "--price", "0.002", "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    cap = author.json("tool", "operators", "add", registered, address, "--yes")["cap"]
    rows = [{"cap": cap, "operator": str(address)}]
    assert author.json("tool", "operators", "list", registered) == rows
    stranger.json(*price)
    author.json("tool", "operators", "remove", registered, cap, "--yes")
    assert stranger.fails(*price) == (8, "not_operator")
    assert author.json("tool", "operators", "list", registered) == []
