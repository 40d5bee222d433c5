"""`nexus-tools index snapshot` and `index fetch`: from one user to another."""

import json
import shutil

import pytest


@pytest.fixture
def published(author, meta_file, definition, tmp_path):
    """Register a tool and publish a snapshot; return its folder and its URL."""
    author.json("tool", "register", "--from-meta", meta_file(definition), "--yes")
    author.json("index", "run", "--once")
    folder = tmp_path / "published"
    created = author.json("index", "snapshot", folder)
    assert created["checkpoint"] == author.json("index", "status")["checkpoint"]
    daemon = author.daemon(
        "serving the index at", "index", "serve", "--port", 0, "--json", "--snapshot", folder
    )
    document = ""
    while not document.endswith("}\n"):
        document += daemon.process.stdout.readline()
    return folder, json.loads(document)["url"]


def test_fetched_index_equals_the_published_one(author, stranger, published):
    _, url = published
    fetched = stranger.json("index", "fetch", url)
    expected = author.json("index", "status")
    assert fetched["checkpoint"] == expected["checkpoint"]
    assert (fetched["events"], fetched["unverified"]) == (expected["events"], 0)
    shown = stranger.json("index", "status")
    assert (shown["tools"], shown["pending_definitions"]) == (expected["tools"], expected["tools"])
    again = stranger.run("index", "fetch", url, "--json")
    assert (again.code, again.error["code"]) == (4, "index_newer")
    same = f"the local index is already at checkpoint {expected['checkpoint']} of the snapshot"
    assert again.error["message"] == same
    stranger.json("index", "run", "--once")
    shown = stranger.json("index", "status")
    assert (shown["pending_definitions"], shown["search"]) == (0, expected["search"])
    assert stranger.fails("index", "fetch", url) == (4, "index_newer")


def test_fetch_names_the_next_step(stranger, published):
    result = stranger.run("index", "fetch", published[1])
    assert result.code == 0
    assert "installed" in result.stderr
    assert "`nexus-tools index run`" in result.stderr


def test_fetch_says_that_a_server_has_no_snapshot(stranger, published):
    folder, url = published
    shutil.rmtree(folder)
    result = stranger.run("index", "fetch", url, "--json")
    assert (result.code, result.error["code"]) == (3, "snapshot_missing")
    assert "index serve --snapshot FOLDER" in result.error["hint"]
    assert "continues" not in result.error["hint"]


def test_refused_first_snapshot_leaves_no_index(stranger, published):
    folder, url = published
    path = folder / "snapshot.json"
    original = path.read_text()
    for fields, code in (
        ({"chain_id": "other"}, "index_identity_mismatch"),
        ({"sha256": "0" * 64}, "snapshot_invalid"),
    ):
        path.write_text(json.dumps(json.loads(original) | fields))
        assert stranger.fails("index", "fetch", url) == (7, code)
    assert (
        stranger.fails("index", "fetch", url, "--max-size", "0.000001")[1] == "snapshot_too_large"
    )
    assert stranger.fails("index", "fetch", "here")[1] == "url_invalid"
    assert stranger.fails("index", "status") == (3, "index_missing")
    assert stranger.fails("index", "serve", "--port", "0") == (3, "index_missing")
    path.write_text(original)
    stranger.json("index", "fetch", url)
    assert stranger.json("index", "status")["events"] > 0


def test_refused_snapshot_leaves_the_existing_index(stranger, published):
    folder, url = published
    stranger.json("index", "run", "--once")
    before = stranger.json("index", "status")
    path = folder / "snapshot.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chain_id": "other"}))
    assert stranger.fails("index", "fetch", url) == (7, "index_identity_mismatch")
    after = stranger.json("index", "status")
    assert (after["events"], after["checkpoint"]) == (before["events"], before["checkpoint"])


def test_fetch_needs_the_lock_of_the_writer(stranger, published):
    stranger.daemon("following new events", "index", "run")
    assert stranger.fails("index", "fetch", published[1]) == (4, "index_locked")


def test_snapshot_without_index_names_the_next_step(home, publisher, tmp_path):
    home.configure(**publisher.settings)
    result = home.run("index", "snapshot", tmp_path / "none", "--json")
    assert result.error["code"] == "index_missing"
