import json

import pytest


def test_update_uses_one_transaction(author, registered_fqn):
    payout = f"0x{'abc':0>64}"
    document = author.json(
        *("tool", "update", registered_fqn, "--yes", "--skip-validation"),
        *("--url", "https://tools.example.com/sum"),
        *("--description", "Sums.", "--timeout", "9s", "--price", "0.5", "--payout", payout),
    )
    assert document["events"] == ["ToolUpdated"] * 5
    tool = author.json("tool", "show", registered_fqn)
    assert tool["url"] == "https://tools.example.com/sum"
    assert tool["description"] == "Sums."
    assert (tool["timeout_ms"], tool["price_mist"]) == (9_000, 500_000_000)
    assert tool["payout"] == payout


@pytest.mark.parametrize(
    "change", [["--url", "ftp://x"], ["--timeout", "1ms"], ["--description", "x" * 5_000]]
)
def test_update_rejects_invalid_values(author, registered_fqn, change):
    before = author.json("tool", "show", registered_fqn)
    result = author.fails("tool", "update", registered_fqn, *change, "--yes")
    assert result == (7, "definition_invalid")
    assert author.json("tool", "show", registered_fqn) == before


@pytest.mark.parametrize(
    ("change", "code"), [("--price", "not_operator"), ("--description", "not_owner")]
)
def test_update_requires_the_owner_or_an_operator(stranger, registered_fqn, change, code):
    assert stranger.fails("tool", "update", registered_fqn, change, "0.1", "--yes") == (8, code)


def test_prompt_of_update_shows_the_new_values(author, registered_fqn):
    payout = author.json("wallet", "new", "till")["address"]
    changes = ("--price", "0.5", "--timeout", "9s", "--payout", "till")
    asked = author.run("tool", "update", registered_fqn, *changes)
    assert asked.code == 2
    assert f"Change {registered_fqn}: timeout 9 s, price 0.5 SUI, payout {payout}?" in asked.stderr


def test_update_needs_a_change(author, registered_fqn):
    assert author.fails("tool", "update", registered_fqn, "--yes") == (2, "nothing_to_update")


def test_dry_run_changes_nothing(author, registered_fqn):
    document = author.json("tool", "update", registered_fqn, "--price", "0.3", "--dry-run")
    assert document["dry_run"] is True
    assert author.json("tool", "show", registered_fqn)["price_mist"] == 1_000_000


@pytest.fixture
def relocate_pointers(author, examples):
    """The FQN of `divide`, which is registered at a URL that is gone."""
    gone = ("--meta", "--public-url", "https://gone.example.com")
    definitions = author.run("tool", "serve", f"{examples / 'tools.py'}:divide", *gone).stdout
    author.run("tool", "register", "--from-meta", "-", "--yes", stdin=definitions)
    return json.loads(definitions)[0]["fqn"]


def test_update_checks_new_url(author, relocate_pointers, tool_server_url):
    url = f"{tool_server_url}/divide"
    update = ("tool", "update", relocate_pointers, "--yes", "--url")
    assert author.fails(*update, "http://127.0.0.1:1") == (6, "tool_unreachable")
    assert author.fails(*update, f"{tool_server_url}/nap") == (7, "served_definition_differs")
    assert (
        author.json("tool", "show", relocate_pointers)["url"]
        == f"https://gone.example.com/{relocate_pointers}"
    )
    author.json(*update, url)
    assert author.json("tool", "show", relocate_pointers)["url"] == url


def test_unchecked_skips_check_of_new_url(author, registered_fqn):
    author.json(
        "tool",
        "update",
        registered_fqn,
        "--url",
        "http://127.0.0.1:1",
        "--skip-validation",
        "--yes",
    )
    assert author.json("tool", "show", registered_fqn)["url"] == "http://127.0.0.1:1"


def test_payout_accepts_alias(author, registered_fqn):
    account, _ = author.wallet.new("cashier")
    author.json("tool", "update", registered_fqn, "--payout", "cashier", "--yes")
    assert author.json("tool", "show", registered_fqn)["payout"] == str(account.address)
