"""A snapshot replaces the local index only if the node has its events."""

from contextlib import closing

import httpx
import pytest

from nexus_tools.errors import UnreachableError
from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import Index, IndexWriter
from nexus_tools.index.api import IndexApi, IndexSource, serve_api
from nexus_tools.index.snapshots import create_snapshot, download_manifest, verification
from nexus_tools.registry import Registration
from nexus_tools.sui.client import Cursor, UnsupportedByNodeError
from tests.index.conftest import read_rows

pytestmark = pytest.mark.anyio

EVENT_TABLES = ("events", "unknown_events", "requests", "closings", "deletions", "addresses")


async def test_installed_snapshot_equals_the_index_of_its_publisher(
    original, publisher, install, new_index, pipeline
):
    index = new_index("local.sqlite")
    installed = await install(index)
    assert installed.verification.unverified == 0
    expected, rows = read_rows(original), read_rows(index)
    assert (
        installed.rows == original.connection.execute("SELECT last_seq FROM cursor").fetchone()[0]
    )
    assert [table for table in EVENT_TABLES if rows[table] != expected[table]] == []
    await pipeline(index).catch_up()  # reads the definitions
    assert read_rows(index) == expected


async def test_index_continues_after_the_checkpoint_of_the_snapshot(
    eventful, publisher, install, new_index, pipeline, original
):
    await eventful.tools.register(Registration(eventful.define("xyz.example.later@1")))
    index = new_index("local.sqlite")
    await install(index)
    writer = IndexWriter(index, eventful.deployment)
    assert writer.cursor.position == Cursor.after_checkpoint(publisher.manifest.checkpoint).position
    await pipeline(index).catch_up()
    await pipeline(original).catch_up()
    assert read_rows(index) == read_rows(original)


async def test_rollback_after_the_installation_is_noticed(
    eventful, publisher, install, new_index, pipeline
):
    snapshot = eventful.net.snapshot()
    await eventful.tools.register(Registration(eventful.define("xyz.example.lost@1")))
    published = new_index("longer.sqlite")
    await pipeline(published).catch_up()
    create_snapshot(published.path, published.identity, publisher.folder)
    index = new_index("local.sqlite")
    await install(index)
    eventful.net.revert(snapshot)
    for _ in range(5):
        eventful.net.fund(eventful.clients["user"].address, 1)
    await pipeline(index).catch_up()
    fresh = new_index("fresh.sqlite")
    await pipeline(fresh).catch_up()
    assert read_rows(index) == read_rows(fresh)


async def test_snapshot_contains_whole_checkpoints_of_an_index_that_is_written(
    eventful, new_index, write, publisher, install
):
    index = new_index("writing.sqlite")
    items = await eventful.items()
    half = next(
        place
        for place in range(len(items) // 2, len(items))
        if items[place].cursor.checkpoint == items[place + 1].cursor.checkpoint
    )
    write(index, items[: half + 1])
    manifest = create_snapshot(index.path, index.identity, publisher.folder)
    assert manifest.checkpoint == items[half].cursor.checkpoint - 1
    await install(new_index("local.sqlite"))


async def test_new_snapshot_replaces_the_previous_one(original, publisher, eventful, pipeline):
    first = publisher.manifest
    await eventful.tools.register(Registration(eventful.define("xyz.example.later@1")))
    await pipeline(original).catch_up()
    second = create_snapshot(original.path, original.identity, publisher.folder)
    assert second.checkpoint > first.checkpoint
    names = {path.name for path in publisher.folder.iterdir()}
    assert names == {"snapshot.json", second.file}


async def test_server_of_the_api_offers_the_snapshot(original, publisher, eventful, new_index):
    with closing(IndexSource(original.path, original.identity)) as source:
        listener = listening_socket("127.0.0.1", 0)
        url = url_of(listener)
        async with serve_api(IndexApi(source, snapshots=publisher.folder), listener):
            file_url, manifest = await download_manifest(url)
            assert manifest == publisher.manifest
            async with httpx.AsyncClient() as http:
                headers = {"Accept-Encoding": "identity"}
                response = await http.get(file_url, headers=headers | {"Range": "bytes=5-"})
                assert (response.status_code, response.content) == (
                    206,
                    publisher.file.read_bytes()[5:],
                )
                for path in ("plain.sqlite.gz", "..%2fsnapshot.json", "metadata.jso"):
                    assert (await http.get(f"{url}/{path}")).status_code == 404
                assert (await http.get(f"{url}/metadata.json")).status_code == 200


# --- Lies

RENUMBER = [
    f"UPDATE {table} SET seq = seq - 1 WHERE seq > (SELECT seq FROM gap)"
    for table in ("events", "unknown_events", "requests", "closings", "deletions")
]
NUMBERS = " UNION ALL ".join(
    f"SELECT seq FROM {table}"
    for table in ("events", "unknown_events", "requests", "closings", "deletions")
)


def removed(table):
    """Return statements that remove a row in the middle without a trace."""
    middle = (
        f"SELECT seq FROM {table} ORDER BY seq LIMIT 1 OFFSET (SELECT count(*) / 2 FROM {table})"
    )
    return (
        f"CREATE TABLE gap AS {middle}",
        f"DELETE FROM {table} WHERE seq = (SELECT seq FROM gap)",
        *RENUMBER,
        "UPDATE closings SET request = request - 1 WHERE request > (SELECT seq FROM gap)",
        "UPDATE deletions SET request = request - 1 WHERE request > (SELECT seq FROM gap)",
        "DROP TABLE gap",
    )


LIES = {
    "price of a request": ("UPDATE requests SET price_mist = price_mist + 1 WHERE rowid = 2",),
    "requester": ("UPDATE requests SET requester = tool WHERE rowid = 3",),
    "outcome": ("UPDATE closings SET outcome = 1 WHERE rowid = 1",),
    "missed leader": ("UPDATE closings SET missed = leader WHERE rowid = 2",),
    "latency": ("UPDATE closings SET latency_ms = 1 WHERE rowid = 1",),
    "description in an event": ("UPDATE events SET contents = CAST(contents || x'00' AS BLOB)",),
    "kind of an event": ("UPDATE events SET kind = 'tool::Invented' WHERE rowid = 1",),
    "address": (
        "UPDATE addresses SET address = randomblob(32) WHERE id = (SELECT tool FROM requests)",
    ),
    "swapped addresses": (
        "UPDATE addresses SET id = CASE id WHEN 1 THEN 2 ELSE 1 END WHERE id < 3",
    ),
    "checkpoint": ("UPDATE requests SET checkpoint = checkpoint + 1 WHERE rowid = 1",),
    "missing request": removed("requests"),
    "missing closing": removed("closings"),
    "missing event": removed("events"),
    "missing last row": (
        f"CREATE TABLE gap AS SELECT max(seq) AS seq FROM ({NUMBERS})",
        *(
            f"DELETE FROM {table} WHERE seq = (SELECT seq FROM gap)"
            for table in ("events", "requests", "closings", "deletions")
        ),
        "DROP TABLE gap",
    ),
    "missing beginning": (
        "DELETE FROM events WHERE seq = 1",
        *(statement.replace("(SELECT seq FROM gap)", "1") for statement in RENUMBER),
        "UPDATE closings SET request = request - 1",
        "UPDATE deletions SET request = request - 1",
    ),
    "invented request": (
        f"CREATE TABLE last AS SELECT max(seq) AS seq FROM ({NUMBERS})",
        "CREATE TABLE new AS SELECT * FROM requests ORDER BY seq DESC LIMIT 1",
        "UPDATE new SET seq = (SELECT seq + 1 FROM last), invocation = randomblob(32)",
        "UPDATE new SET checkpoint = (SELECT max(checkpoint) FROM events)",
        "INSERT INTO requests SELECT * FROM new",
    ),
    "all rows": tuple(
        f"DELETE FROM {table}" for table in ("events", "requests", "closings", "deletions")
    ),
}


@pytest.mark.parametrize(
    ("last_rows", "random_rows"),
    [(1_000, 0), pytest.param(1, 1_000, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_lying_snapshot_is_refused(
    lie, last_rows, random_rows, publisher, refused, monkeypatch
):
    """The last rows, and also random rows, show each lie about a short history."""
    monkeypatch.setattr(verification, "LAST_ROWS", last_rows)
    monkeypatch.setattr(verification, "RANDOM_ROWS", random_rows)
    publisher.change_file(*lie)
    assert await refused() == "snapshot_mismatch"


async def test_lie_in_rows_that_are_not_compared_cannot_break_the_index(
    publisher, refused, monkeypatch
):
    monkeypatch.setattr(verification, "LAST_ROWS", 1)
    monkeypatch.setattr(verification, "RANDOM_ROWS", 0)
    publisher.change_file("UPDATE events SET kind = 'tool::Invented' WHERE rowid = 4")
    assert await refused() == "snapshot_invalid"
    publisher.change_file("UPDATE events SET kind = 'tool::ToolRegistered', contents = x'07'")
    assert await refused() in ("snapshot_invalid", "snapshot_mismatch")


async def test_derived_tables_of_the_publisher_are_ignored(publisher, install, new_index, original):
    publisher.change_file(
        "CREATE TABLE tools AS SELECT 'Buy this!' AS description",
        "CREATE TABLE definitions AS SELECT 1 AS tool, 'lies' AS words",
    )
    index = new_index("local.sqlite")
    await install(index)
    assert {row["description"] for row in read_rows(index)["tools"]} == {"Adds two integers."}
    with Index(index.path, index.identity) as reader:
        assert reader.status().pending_definitions == reader.status().tools


DAMAGES = {
    "hole": ("DELETE FROM requests WHERE rowid = 2",),
    "wrong order": ("UPDATE requests SET checkpoint = 0 WHERE rowid = 3",),
    "wrong type": ("UPDATE requests SET price_mist = 'free' WHERE rowid = 1",),
    "missing value": ("UPDATE requests SET tool = NULL WHERE rowid = 1",),
    "missing table": ("DROP TABLE closings",),
    "missing column": ("ALTER TABLE closings DROP COLUMN fee_mist",),
    "view": (
        "ALTER TABLE requests RENAME TO other",
        "CREATE VIEW requests AS SELECT * FROM other",
    ),
    "computed column": (
        "ALTER TABLE requests RENAME TO other",
        "CREATE TABLE requests (seq, checkpoint, more AS (1))",
    ),
    "row after the last checkpoint": (
        "UPDATE events SET checkpoint = 1000000 WHERE seq = (SELECT max(seq) FROM events)",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_damaged_snapshot_is_refused(damage, publisher, refused):
    publisher.change_file(*damage)
    assert await refused() == "snapshot_invalid"


async def test_file_that_is_not_a_database_is_refused(publisher, refused):
    publisher.publish(b"not a database" * 1_000)
    assert await refused() == "snapshot_invalid"


MANIFESTS = {
    "other chain": ({"chain_id": "other"}, "index_identity_mismatch"),
    "other package": ({"package": f"0x{7:064x}"}, "index_identity_mismatch"),
    "other workflows": ({"workflows": None}, "index_identity_mismatch"),
    "older format": ({"index_format": 0}, "index_format_unsupported"),
    "other snapshot format": ({"format": 2}, "index_format_unsupported"),
    "later than the node": ({"checkpoint": 10**9}, "snapshot_unverified"),
    "earlier beginning": ({"complete_since": 10**6}, "snapshot_invalid"),
    "too large": ({"file_bytes": 10**15}, "snapshot_too_large"),
    "too large after decompression": ({"index_bytes": 10**15}, "snapshot_too_large"),
    "wrong digest": ({"sha256": "0" * 64}, "snapshot_invalid"),
    "invalid digest": ({"sha256": "../" * 20}, "snapshot_invalid"),
    "other folder": ({"file": "../secret"}, "snapshot_invalid"),
    "other host": ({"file": "https://example.com/file"}, "snapshot_invalid"),
    "negative": ({"index_bytes": -1}, "snapshot_invalid"),
    "wrong type": ({"checkpoint": "new"}, "snapshot_invalid"),
    "missing file": ({"file": "none.sqlite.gz"}, "snapshot_unreachable"),
}


@pytest.mark.parametrize(("fields", "code"), MANIFESTS.values(), ids=MANIFESTS)
async def test_wrong_manifest_is_refused(fields, code, publisher, refused):
    publisher.change_manifest(**fields)
    assert await refused() == code


async def test_manifest_without_end_is_refused(publisher, refused):
    (publisher.folder / "snapshot.json").write_bytes(b" " * 1_000_000)
    assert await refused() == "snapshot_invalid"


async def test_bomb_is_not_decompressed(publisher, refused):
    """The manifest promises a small file."""
    size = publisher.manifest.index_bytes
    publisher.publish(bytes(20_000_000))
    assert publisher.manifest.file_bytes < 30_000
    publisher.change_manifest(index_bytes=size)
    assert await refused() == "snapshot_invalid"


async def test_snapshot_larger_than_allowed_is_refused(publisher, refused):
    assert await refused(max_bytes=publisher.manifest.index_bytes - 1) == "snapshot_too_large"


# --- Downloads


async def test_interrupted_download_continues(publisher, install, new_index, tmp_path):
    publisher.cut_bytes = 1_000
    index = new_index("local.sqlite")
    with pytest.raises(UnreachableError) as caught:
        await install(index)
    assert caught.value.code == "snapshot_unreachable"
    [part] = tmp_path.glob("*.part")
    assert part.stat().st_size == 1_000
    await install(index)
    assert publisher.ranges == [None, "bytes=1000-"]
    assert not [*tmp_path.glob("*.part")]


async def test_damaged_part_of_a_download_is_downloaded_again(
    publisher, install, refused, new_index, tmp_path
):
    publisher.cut_bytes = 1_000
    index = new_index("other.sqlite")
    with pytest.raises(UnreachableError):
        await install(index)
    [part] = tmp_path.glob("*.part")
    part.write_bytes(bytes(500))
    with pytest.raises(Exception, match="size and digest"):
        await install(index)
    await install(index)
    assert publisher.ranges[-1] is None


async def test_stopped_publisher_is_reported(publisher, refused):
    publisher.url = publisher.url.replace("/published", "/none")
    assert await refused() == "snapshot_missing"
    publisher.url = "http://127.0.0.1:1/published"
    assert await refused() == "snapshot_unreachable"
    publisher.url = "ftp://example.com"
    assert await refused() == "url_invalid"


# --- Nodes that cannot check


async def test_node_that_pruned_events_needs_permission(
    publisher, refused, install, new_index, monkeypatch, original
):
    oldest = publisher.manifest.checkpoint // 2

    async def oldest_checkpoint(_client):
        return oldest

    monkeypatch.setattr(verification, "oldest_checkpoint", oldest_checkpoint)
    monkeypatch.setattr(verification, "LAST_ROWS", 5)
    assert await refused() == "snapshot_unverified"
    index = new_index("trusting.sqlite")
    installed = await install(index, allows_unverified=True)
    assert installed.verification.unverified > 1
    assert f"before checkpoint {oldest}" in installed.verification.problem
    assert read_rows(index)["requests"] == read_rows(original)["requests"]


async def test_permission_does_not_allow_a_lie_that_the_node_shows(publisher, refused, monkeypatch):
    async def oldest_checkpoint(_client):
        return 10

    monkeypatch.setattr(verification, "oldest_checkpoint", oldest_checkpoint)
    monkeypatch.setattr(verification, "LAST_ROWS", 5)
    publisher.change_file("UPDATE closings SET fee_mist = 7")
    assert await refused(allows_unverified=True) == "snapshot_mismatch"


async def test_node_without_event_index_needs_permission(
    publisher, refused, install, new_index, monkeypatch
):
    async def newest_events(*_, **__):
        raise UnsupportedByNodeError("node_unsupported", "no index")

    monkeypatch.setattr(verification, "newest_events", newest_events)
    assert await refused() == "snapshot_unverified"
    installed = await install(new_index("trusting.sqlite"), allows_unverified=True)
    assert "no index of events" in installed.verification.problem


async def test_node_that_returns_few_events_needs_permission(
    publisher, refused, install, new_index, monkeypatch
):
    """The node stops each request after it has scanned a few checkpoints."""
    monkeypatch.setattr(verification, "_EVENTS_AT_ONCE", 1)
    monkeypatch.setattr(verification, "_MORE_EVENTS", 1)
    assert await refused() == "snapshot_unverified"
    installed = await install(new_index("trusting.sqlite"), allows_unverified=True)
    assert "too few events" in installed.verification.problem


async def test_older_snapshot_does_not_replace_the_index(install, original, publisher):
    before = read_rows(original)
    with pytest.raises(Exception, match="is already at checkpoint") as caught:
        await install(original)
    assert caught.value.code == "index_newer"
    assert read_rows(original) == before
