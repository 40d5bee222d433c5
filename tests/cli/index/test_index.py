"""`nexus-tools index`: builds, follows, and survives being killed."""

import os
import re
import shutil
import signal
from contextlib import closing
from pathlib import Path

import pytest

from nexus_tools.index import IndexIdentity, open_reader
from nexus_tools.sui.types.address import Address
from tests.cli.conftest import make_definition
from tests.index.conftest import rows_of


@pytest.fixture
def register(author, meta_file):
    """Return a function that registers a tool with a name, and its FQN."""

    def register(name):
        document = make_definition(name)
        file = meta_file(document)
        author.json("tool", "register", "--from-meta", file, "--yes")
        return document["fqn"]

    return register


def rows(status):
    identity = IndexIdentity(status["chain_id"], Address.parse(status["package"]))
    with closing(open_reader(Path(status["path"]), identity)) as connection:
        return rows_of(connection)


def test_status_without_index_names_the_next_step(author):
    result = author.run("index", "status", "--json")
    assert (result.code, result.error["code"]) == (3, "index_missing")
    assert "nexus-tools index run" in result.error["hint"]


def test_run_once_builds_an_index_that_status_shows(author, register):
    register("one")
    built = author.json("index", "run", "--once")
    shown = author.json("index", "status")
    assert built["tools"] == shown["tools"] == 1
    assert built["checkpoint"] == shown["checkpoint"] <= shown["chain_checkpoint"]
    assert shown["pending_definitions"] == 0
    assert shown["search"] == {
        "engine": "tantivy",
        "tools": 1,
        "pending_changes": 0,
        "vectors": 0,
        "vector_model": None,
        "pending_vectors": 0,
    }
    text = author.run("index", "status").stdout
    assert "complete since checkpoint" in text
    assert re.search(r"search engine +tantivy\n +searchable tools +1\n", text)
    shutil.rmtree(Path(shown["path"]).with_suffix(".search"))
    text = author.run("index", "status").stdout
    assert "none: `nexus-tools index run` creates it" in text
    assert re.search(r"pending changes +1\n", text)


def test_rebuild_gives_the_same_index(author, register):
    register("two")
    first = author.json("index", "run", "--once")
    second = author.json("index", "rebuild")
    assert second.pop("generation") != first.pop("generation")
    assert [second[key] for key in ("tools", "events")] == [
        first[key] for key in ("tools", "events")
    ]


def test_damaged_index_is_replaced_with_a_warning(author, register):
    register("three")
    path = author.json("index", "run", "--once")["path"]
    os.truncate(path, 5_000)
    assert author.fails("index", "status") == (7, "index_invalid")
    result = author.run("index", "run", "--once")
    assert result.code == 0
    assert "building a new index" in result.stderr
    assert author.json("index", "status")["tools"] >= 1


def test_second_process_is_refused_while_the_first_follows(author):
    first = author.daemon("following new events", "index", "run")
    assert author.fails("index", "run", "--once") == (4, "index_locked")
    assert author.fails("index", "rebuild") == (4, "index_locked")
    assert author.json("index", "status")["tools"] >= 0
    assert first.end(signal.SIGINT).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_command_without_an_error(author, number):
    result = author.daemon("following new events", "index", "run").end(number)
    assert (result.code, result.stdout) == (0, "")


def test_killed_process_continues_where_it_stopped(author, register):
    for name in ("four", "five", "six"):
        daemon = author.daemon("indexed up to", "index", "run")
        register(name)
        os.kill(daemon.process.pid, signal.SIGKILL)
        daemon.process.wait(timeout=30)
    continued = rows(author.json("index", "run", "--once"))
    assert rows(author.json("index", "rebuild")) == continued
