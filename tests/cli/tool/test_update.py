import pytest


def test_all_changes_go_into_one_transaction(author, registered):
    document = author.json(
        *("tool", "update", registered, "--yes", "--url", "https://tools.example.com/sum"),
        *("--description", "Sums.", "--timeout", "9s", "--price", "0.5", "--payout", "0xabc"),
    )
    assert document["events"] == ["ToolUpdated"] * 5
    tool = author.json("tool", "show", registered)
    assert tool["url"] == "https://tools.example.com/sum"
    assert tool["description"] == "Sums."
    assert (tool["timeout_ms"], tool["price_mist"]) == (9_000, 500_000_000)
    assert tool["payout"] == f"0x{'abc':0>64}"


@pytest.mark.parametrize(
    "change", [["--url", "ftp://x"], ["--timeout", "1ms"], ["--description", "x" * 5_000]]
)
def test_what_a_definition_cannot_have_is_refused(author, registered, change):
    before = author.json("tool", "show", registered)
    result = author.fails("tool", "update", registered, *change, "--yes")
    assert result == (7, "definition_invalid")
    assert author.json("tool", "show", registered) == before


@pytest.mark.parametrize(
    ("change", "code"), [("--price", "not_operator"), ("--description", "not_owner")]
)
def test_only_who_has_a_cap_may_change_it(stranger, registered, change, code):
    assert stranger.fails("tool", "update", registered, change, "1", "--yes") == (8, code)


def test_something_has_to_be_changed(author, registered):
    assert author.fails("tool", "update", registered, "--yes") == (2, "nothing_to_update")


def test_a_dry_run_changes_nothing(author, registered):
    document = author.json("tool", "update", registered, "--price", "3", "--dry-run")
    assert document["dry_run"] is True
    assert author.json("tool", "show", registered)["price_mist"] == 1_000_000
