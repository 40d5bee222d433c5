"""Wallets whose SUI is in more coins than a transaction takes."""

import pytest


@pytest.fixture
def dusty(publisher, new_home, chain):
    """A user with 2.4 SUI in 600 coins."""
    user = new_home("dusty", publisher)
    user.wallet.new("to")
    for _ in range(3):
        chain.fund(user.wallet.account("dusty").address, *[4_000_000] * 200)
    return user


def balance(user, name):
    return user.json("wallet", "show", name)["balance_mist"]


def test_transfer_merges_the_required_coins_and_reports_it(dusty):
    result = dusty.run("wallet", "transfer", "to", "1.5", "--yes", "--json")
    assert result.code == 0, result.stderr
    assert "merged " in result.stderr
    assert "a transaction can use at most 255 coins" in result.stderr
    assert balance(dusty, "to") == 1_500_000_000


def test_transfer_of_all_spends_many_coins(dusty):
    sent = dusty.json("wallet", "transfer", "to", "all", "--yes")
    assert balance(dusty, "to") == sent["amount_mist"]
    assert sent["amount_mist"] == 2_400_000_000 - sent["cost_mist"]
    assert balance(dusty, "dusty") == 0


def test_dry_run_and_prompt_merge_nothing(dusty):
    for options in (("--dry-run",), ()):
        asked = dusty.run("wallet", "transfer", "to", "1.5", *options)
        assert asked.code in (0, 2)
        assert "merged" not in asked.stderr
    assert dusty.json("wallet", "merge", "--dry-run")["coins"] == 600
    assert balance(dusty, "dusty") == 2_400_000_000


def test_tool_is_registered_from_many_coins(dusty, definition, meta_file):
    file = meta_file(definition)
    registered = dusty.json("tool", "register", "--from-meta", file, "--yes")
    assert registered["digest"]


def test_merge_leaves_one_coin_and_reports_the_cost(dusty):
    merged = dusty.json("wallet", "merge", "--yes")
    assert merged["coins"] == 1
    assert balance(dusty, "dusty") == 2_400_000_000 - merged["cost_mist"]
    again = dusty.run("wallet", "merge", "--yes")
    assert again.code == 0
    assert "nothing to merge: 1 coin" in again.stderr


def test_merge_asks_first(dusty):
    asked = dusty.run("wallet", "merge")
    assert asked.code == 2
    assert "Merge 600 coins on test?" in asked.stderr


def test_insufficient_funds_error_counts_all_coins(dusty):
    result = dusty.run("wallet", "transfer", "to", "2.4", "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, "not_enough_sui")
    assert result.error["details"]["available_mist"] == 2_400_000_000
    assert "the wallet has 2.4 SUI" in result.error["message"]
    assert balance(dusty, "dusty") == 2_400_000_000
