"""Lists of published workflows: limits, and notes about workflows that are not shown."""

import pytest

from nexus_tools.registry import pages

HALVES, WAITS = "xyz.example.halves@1", "xyz.example.waits@1"


def fqns(result):
    return [row["fqn"] for row in result.document]


def test_list_starts_with_the_newest_workflow(seller):
    assert fqns(seller.run("workflow", "list", "--mine", "--json")) == [WAITS, HALVES]


def test_list_notes_that_older_workflows_exist(seller):
    result = seller.run("workflow", "list", "--mine", "--json", "--limit", "1")
    assert fqns(result) == [WAITS]
    assert "showing only the newest 1. Use --all to list all workflows" in result.stderr


@pytest.mark.parametrize("options", [("--limit", "2"), ("--limit", "1", "--all")])
def test_list_of_all_workflows_has_no_note(seller, options):
    result = seller.run("workflow", "list", "--mine", "--json", *options)
    assert fqns(result) == [WAITS, HALVES]
    assert result.stderr == ""


def test_list_notes_the_period_that_it_covers(seller, monkeypatch):
    monkeypatch.setattr(pages, "MAX_SCANNED", 1)
    result = seller.run("workflow", "list", "--mine", "--json", "--limit", "2")
    assert fqns(result) == [WAITS]
    assert "showing the workflows since 20" in result.stderr
    assert "Use --all to list all workflows" in result.stderr
