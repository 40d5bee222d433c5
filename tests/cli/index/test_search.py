"""The search that `index run` keeps current, with the settings of a user."""

import pytest

from tests.cli.conftest import make_definition
from tests.index.search.models import matrix, write_model


@pytest.fixture
def model(tmp_path):
    return str(write_model(tmp_path / "model", {"embeddings": matrix()}))


@pytest.fixture
def weather(author, meta_file, definition):
    """A tool for rain; its FQN."""
    path = meta_file(definition | {"description": "Rain of tomorrow."})
    author.json("tool", "register", "--from-meta", path, "--yes")
    return definition["fqn"]


def found(author, *words):
    return [row["fqn"] for row in author.json("tool", "list", "--search", " ".join(words))]


def test_intent_model_of_the_settings_finds_meanings(author, weather, model):
    author.json("config", "set", "intent_model", model)
    author.json("index", "run", "--once")
    assert weather in found(author, "umbrella")
    author.json("config", "unset", "intent_model")
    assert weather not in found(author, "umbrella")


def test_intent_model_of_an_option_needs_the_setting_to_search(author, weather, model):
    author.json("index", "run", "--once", "--intent-model", model)
    assert weather not in found(author, "umbrella")
    author.json("config", "set", "intent_model", model)
    assert weather in found(author, "umbrella")


def test_search_with_another_model_says_so(author, weather, model, tmp_path):
    author.json("index", "run", "--once", "--intent-model", model)
    other = write_model(tmp_path / "other", {"embeddings": matrix(seed=2)})
    author.json("config", "set", "intent_model", str(other))
    result = author.run("tool", "list", "--search", "rain tomorrow", "--json")
    assert weather in [row["fqn"] for row in result.document]
    assert "no vectors of the intent model" in result.stderr


def test_unusable_intent_model_is_refused(author, tmp_path):
    missing = str(tmp_path / "none")
    assert author.fails("index", "run", "--once", "--intent-model", missing) == (
        7,
        "intent_model_invalid",
    )
    assert author.fails("config", "set", "intent_model", missing)[1] == "intent_model_invalid"


def test_rebuild_makes_tools_findable_again(author, weather):
    author.json("index", "run", "--once")
    author.json("index", "rebuild")
    assert weather in found(author, "rain tomorrow")


def test_trusted_requesters_must_be_addresses(author):
    assert author.fails("config", "set", "trusted_requesters", "0xnone")[0] == 7
    address = author.json("wallet", "show")["address"]
    author.json("config", "set", "trusted_requesters", f"{address}, {address}")
    author.json("index", "run", "--once")
    assert author.run("tool", "list", "--search", "rain").code == 0


def test_following_index_makes_new_tools_findable(author, meta_file):
    daemon = author.daemon("following new events", "index", "run")
    document = make_definition("followed") | {"description": "Counts butterflies."}
    path = meta_file(document)
    author.json("tool", "register", "--from-meta", path, "--yes")
    assert daemon.end().code == 0
    author.json("index", "run", "--once")
    assert document["fqn"] in found(author, "butterfly")
