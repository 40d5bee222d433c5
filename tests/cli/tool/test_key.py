"""Keys of tools, and the warnings before a key makes calls fail."""

import pytest


@pytest.fixture
def key(author, tmp_path):
    """A key file of a tool."""
    file = tmp_path / "tool.pem"
    made = author.run("tool", "key", "new", file)
    assert "serve the tool with --network NAME --signing-key FILE, and then" in made.stderr
    return file


def test_key_add_warns_of_leaders_without_a_key(author, registered_fqn, key, operator_leader):
    added = author.run("tool", "key", "add", registered_fqn, key, "--yes")
    assert added.code == 0
    assert "First serve the tool with --network NAME --signing-key FILE" in added.stderr
    assert f"operator ({operator_leader})" in added.stderr
    assert f"nexus-tools tool update {registered_fqn} --require-signed-outcome" in added.stderr


def test_key_add_does_not_warn_of_leaders_with_a_key(author, registered_fqn, key, tmp_path):
    signing = tmp_path / "leader.pem"
    author.json("leader", "key", "new", signing)
    author.json("leader", "register", "--name", "signer", "--key", signing, "--yes")
    author.json("tool", "leaders", "add", registered_fqn, "signer", "--yes")
    author.json("tool", "leaders", "remove", registered_fqn, "operator", "--yes")
    added = author.run("tool", "key", "add", registered_fqn, key, "--yes")
    assert added.code == 0
    assert "without a key" not in added.stderr


def test_key_add_warns_of_a_tool_that_accepts_any_leader(author, definition, meta_file, key):
    author.json("tool", "register", "--from-meta", meta_file(definition), "--yes")
    added = author.run("tool", "key", "add", definition["fqn"], key, "--yes")
    assert "accepts any leader, but the calls of leaders that do not sign" in added.stderr


def test_key_add_does_not_propose_a_setting_that_is_on(author, registered_fqn, key, tmp_path):
    second = tmp_path / "second.pem"
    author.json("tool", "key", "new", second)
    author.json("tool", "key", "add", registered_fqn, key, "--yes")
    author.json("tool", "update", registered_fqn, "--require-signed-outcome", "--yes")
    added = author.run("tool", "key", "add", registered_fqn, second, "--yes")
    assert added.code == 0
    assert "--require-signed-outcome" not in added.stderr
