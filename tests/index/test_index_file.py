"""Files of an index: damaged, foreign, and replaced."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import replace

from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.index import (
    Index,
    IndexIdentity,
    IndexWriter,
    index_file,
    open_reader,
    open_writer,
)
from nexus_tools.index.index_file import create_copy, replace_contents
from nexus_tools.sui.types.address import Address
from tests.index.synthetic import DEPLOYMENT, Events, object_id

IDENTITY = IndexIdentity.of(DEPLOYMENT)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder of an index with 2 000 tools, which tests copy."""
    folder = tmp_path_factory.mktemp("written")
    index, events = open_writer(folder / "index.sqlite", IDENTITY), Events()
    IndexWriter(index, DEPLOYMENT).apply([events.tool(number) for number in range(2_000)])
    index.close()
    return folder


@pytest.fixture
def path(written, tmp_path):
    """Return the path of an index with 2 000 tools."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path / "index.sqlite"


def test_path_contains_chain_and_package(tmp_path):
    assert IDENTITY.path(tmp_path) == tmp_path / f"chain-{Address.of(0x10)}.sqlite"


def test_missing_index_names_the_next_step(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        open_reader(tmp_path / "index.sqlite", IDENTITY)
    assert caught.value.code == "index_missing"
    assert "nexus-tools index run" in caught.value.hint


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path):
    content = bytearray(path.read_bytes())
    content[4_096:] = bytes(len(content) - 4_096)
    path.write_bytes(content)


def garble_schema(path):
    """Put bytes that are not text into the name of a column, which SQLite then reports."""
    content = path.read_bytes()
    assert b"chain_id TEXT" in content
    path.write_bytes(content.replace(b"chain_id TEXT", b"\x8e\x8ehain_i TEX"))


DAMAGES = {
    "garbled schema": garble_schema,
    "truncated": truncate,
    "garbled": garble,
    "text": lambda path: path.write_text("not an index\n" * 1_000),
    "empty": lambda path: path.write_bytes(b""),
    "another version": lambda path: execute(path, "PRAGMA user_version = 99"),
    "another database": lambda path: execute(path, "PRAGMA application_id = 7"),
    "without cursor": lambda path: execute(path, "DELETE FROM cursor"),
    "without identity": lambda path: execute(path, "DELETE FROM identity"),
}


def execute(path, statement):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_writer_replaces_a_damaged_file(path, damage):
    damage(path)
    index = open_writer(path, IDENTITY)
    assert index.replaced.code in ("index_invalid", "index_format_unsupported")
    assert "index rebuild" in index.replaced.hint
    assert IndexWriter(index, DEPLOYMENT).cursor.checkpoint == 0
    index.close()
    with Index(path, IDENTITY) as reader:
        assert reader.status().tools == 0


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_reader_refuses_a_damaged_file(path, damage):
    damage(path)
    with pytest.raises(ValidationError) as caught:
        read_all(path)
    assert caught.value.code in ("index_invalid", "index_format_unsupported")
    assert "nexus-tools index rebuild" in caught.value.hint


def read_all(path):
    with Index(path, IDENTITY) as index:
        for number in range(2_000):
            index.tool(f"xyz.domain{number % 10}.tool{number}@1")


OTHERS = {
    "chain": replace(IDENTITY, chain_id="other"),
    "package": replace(IDENTITY, package=Address.of(0x99)),
}


@pytest.mark.parametrize("identity", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("open_file", [open_reader, open_writer])
def test_index_of_another_network_is_refused_and_kept(path, identity, open_file):
    before = path.read_bytes()
    with pytest.raises(ValidationError) as caught:
        open_file(path, identity)
    assert caught.value.code == "index_identity_mismatch"
    assert path.read_bytes() == before


def test_index_without_the_package_of_workflows_is_replaced(tmp_path):
    path = tmp_path / "index.sqlite"
    open_writer(path, replace(IDENTITY, workflows=None)).close()
    index = open_writer(path, IDENTITY)
    assert "package of workflows" in index.replaced.message
    index.close()
    index = open_writer(path, replace(IDENTITY, workflows=None))
    assert index.replaced is None
    index.close()


def test_metadata_describes_each_table(path):
    file = path.with_name("index.metadata.json")
    tables = json.loads(file.read_text())["databases"]["index"]["tables"]
    with closing(open_reader(path, IDENTITY)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert tables.keys() <= names


def test_new_index_starts_at_the_oldest_checkpoint_of_the_node(tmp_path):
    path = tmp_path / "index.sqlite"
    index = open_writer(path, IDENTITY, oldest=70)
    assert IndexWriter(index, DEPLOYMENT).cursor.position > (69, 10**9, 10**9)
    index.close()
    with Index(path, IDENTITY) as reader:
        assert reader.status().complete_since == 70


def test_replaced_contents_appear_at_once_to_open_readers(path):
    index = open_writer(path, IDENTITY)
    with Index(path, IDENTITY) as reader:
        old = reader.status()
        assert len(reader.tools(limit=2_000).items) == 2_000
        copy, events = create_copy(index, 0), Events()
        IndexWriter(copy, DEPLOYMENT).apply([events.tool(1)])
        assert reader.status() == old
        replace_contents(index, copy)
        new = reader.status()
        assert [tool.id for tool in reader.tools().items] == [object_id("tool", 1)]
    assert path.stat().st_size < 500_000
    assert (old.tools, new.tools) == (2_000, 1)
    assert new.generation != old.generation
    index.close()
    assert not [file.name for file in path.parent.iterdir() if ".new" in file.name]
    with Index(path, IDENTITY) as reader:
        assert reader.tools().items[0].id == object_id("tool", 1)


def test_copy_of_an_interrupted_rebuild_is_replaced(path):
    path.with_name("index.sqlite.new").write_text("rest")
    index = open_writer(path, IDENTITY)
    copy = create_copy(index, 0)
    assert IndexWriter(copy, DEPLOYMENT).cursor.checkpoint == 0
    replace_contents(index, copy)
    index.close()


def test_wal_file_shrinks_after_a_reader_that_stayed_open(path, monkeypatch):
    monkeypatch.setattr(index_file, "_CHECKPOINT_PAGES", 10)
    monkeypatch.setattr(index_file, "_MOST_WAL_BYTES", 100_000)
    index, events = open_writer(path, IDENTITY), Events()
    writer, wal = IndexWriter(index, DEPLOYMENT), path.with_name("index.sqlite-wal")
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM tools LIMIT 1").fetchall()
        writer.apply([events.tool(number) for number in range(2_000, 3_000)])
        assert wal.stat().st_size > 200_000
    for number in range(3_000, 3_003):
        writer.apply([events.tool(number)])
    assert wal.stat().st_size <= 100_000
    index.close()
