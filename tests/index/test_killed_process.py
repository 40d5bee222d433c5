"""An index equals a fresh one after 50 kills, torn files, and changes of the network."""

import random
import shutil
from contextlib import closing

import pytest

from nexus_tools.contracts import Publisher
from nexus_tools.errors import WrongStateError
from nexus_tools.index import (
    Index,
    IndexIdentity,
    IndexPipeline,
    IndexWriter,
    SearchUpdate,
    VectorUpdate,
    open_writer,
)
from nexus_tools.registry import Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.network import Network
from tests.index.conftest import ADD, read_rows
from tests.index.indexing_process import index_until_killed
from tests.index.intent_models import SlowModel
from tests.retry_policies import QUICK

pytestmark = [pytest.mark.anyio, pytest.mark.long]

SEED = 20_261_129
CHAINS, KILLS_PER_CHAIN = 5, 10
MAX_STEPS, MAX_STATEMENTS = 12, 200
PAGE_BYTES = 4_096
TORN_FILES = 60


class Changes:
    """Random changes of the chain: new tools, closed invocations, and reverts."""

    def __init__(self, history, numbers):
        self.history = history
        self.numbers = numbers
        self.snapshots = [history.net.snapshot()]
        self.names = 0

    async def register(self, count):
        """Register tools with new names. A client that knows reverted coins cannot pay."""
        self.names += count
        names = range(self.names - count, self.names)
        registrations = [
            Registration(self.history.define(f"xyz.example.made{name}@1")) for name in names
        ]
        async with self.history.chain.client("owner") as client:
            await ToolRegistry(client, self.history.deployment).register(*registrations)

    async def revert(self):
        """Return to an earlier state, and let the chain become longer than before."""
        net, user = self.history.net, self.history.clients["user"]
        height = await user.latest_checkpoint()
        chosen = self.numbers.randrange(len(self.snapshots))
        del self.snapshots[chosen + 1 :]  # a revert removes later snapshots
        net.revert(self.snapshots[chosen])
        while await user.latest_checkpoint() <= height:
            net.fund(user.address, 1)

    async def change(self):
        match self.numbers.randrange(4):
            case 0:
                await self.revert()
                await self.register(self.numbers.randint(1, 5))
            case 1:
                await self.register(self.numbers.randint(1, 5))
                self.snapshots.append(self.history.net.snapshot())


@pytest.fixture
async def changes(history):
    """Return the changes of a chain with a few dozen events."""
    changes = Changes(history, random.Random(SEED))
    await history.tools.register(Registration(history.define(ADD)))
    for _ in range(10):
        await history.close(ADD)
    changes.snapshots = [history.net.snapshot()]
    await changes.register(20)
    return changes


def tools_found(path, identity, words):
    with Index(path, identity) as index:
        results = index.search(words, limit=500)
        assert results.notes == ()
        return {item.tool.fqn: item.reason for item in results.items}


async def test_index_equals_a_fresh_one_after_50_kills(changes, tmp_path, new_index, pipeline):
    history = changes.history
    identity = IndexIdentity.of(history.deployment)
    interrupted = 0
    for chain in range(CHAINS):
        path = tmp_path / f"killed{chain}.sqlite"
        arguments = history.net.network, history.deployment, path
        for kill in range(KILLS_PER_CHAIN):
            moment = (
                {"statements": changes.numbers.randint(1, MAX_STATEMENTS)}
                if kill % 2
                else {"steps": changes.numbers.randint(1, MAX_STEPS)}
            )
            interrupted += index_until_killed(*arguments, **moment)
            await changes.change()
        index = open_writer(path, identity)
        assert index.replaced is None
        fresh = new_index(f"fresh{chain}.sqlite")
        for written in index, fresh:
            with (
                closing(SearchUpdate(written)) as search,
                closing(VectorUpdate(written, SlowModel())) as vectors,
            ):
                await pipeline(written, search=search).catch_up()
                vectors.run()
        index.close()
        assert read_rows(index) == read_rows(fresh)
        found = tools_found(path, identity, "made add")
        assert found == tools_found(fresh.path, identity, "made add")
        assert len(found) > 1
    assert interrupted > CHAINS * KILLS_PER_CHAIN / 2  # the others had already ended


# --- Torn files


def truncate(content, numbers):
    return content[: numbers.randrange(len(content))]


def garble_page(content, numbers):
    """Replace a page, the unit in which SQLite writes."""
    start = numbers.randrange(0, len(content), PAGE_BYTES)
    return content[:start] + numbers.randbytes(PAGE_BYTES) + content[start + PAGE_BYTES :]


def clear_page(content, numbers):
    start = numbers.randrange(0, len(content), PAGE_BYTES)
    return content[:start] + bytes(PAGE_BYTES) + content[start + PAGE_BYTES :]


def garble_end(content, numbers):
    """Replace the last bytes, as a write that a power failure interrupted leaves them."""
    length = numbers.randint(1, min(len(content), 2 * PAGE_BYTES))
    return content[:-length] + numbers.randbytes(length)


def remove(_content, _numbers):
    return None


TEARS = {
    "index.sqlite": (truncate, garble_page, clear_page, garble_end),
    "index.sqlite-wal": (truncate, garble_end, remove),
}


def copy_files(path, folder):
    """Copy an index with its log, as a killed process leaves them."""
    folder.mkdir()
    for name in TEARS:
        if path.with_name(name).exists():
            shutil.copy(path.with_name(name), folder)


async def test_torn_files_become_the_rows_of_a_fresh_index(
    changes, tmp_path, new_index, pipeline, write
):
    numbers, identity = changes.numbers, IndexIdentity.of(changes.history.deployment)
    index = new_index("index.sqlite")
    items = await changes.history.items()
    half = len(items) // 2
    writer = write(index, items[:half], 7)
    index.close()  # all batches are in the file itself
    copy_files(index.path, tmp_path / "closed")
    index = open_writer(index.path, identity)
    # The log keeps all batches, so that torn logs and torn files are different cases.
    index.connection.execute("PRAGMA wal_autocheckpoint = 0")
    writer = IndexWriter(index, changes.history.deployment)
    for item in items[half:]:
        writer.apply([item])
    copy_files(index.path, tmp_path / "open")
    await pipeline(index).catch_up()
    expected = read_rows(index)
    index.close()
    replaced = 0
    for number in range(TORN_FILES):
        state = numbers.choice(("closed", "open"))
        folder = tmp_path / f"torn{number}"
        shutil.copytree(tmp_path / state, folder)
        file = numbers.choice([file for file in folder.iterdir() if file.stat().st_size])
        content = numbers.choice(TEARS[file.name])(file.read_bytes(), numbers)
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        torn = open_writer(folder / "index.sqlite", identity)
        replaced += torn.replaced is not None
        await pipeline(torn).catch_up()
        assert read_rows(torn) == expected, (number, state, file.name)
        torn.close()
    assert 0 < replaced < TORN_FILES


# --- Other networks


async def write_index(client, deployment, path):
    """Bring an index up to date, and return its rows."""
    with closing(open_writer(path, IndexIdentity.of(deployment))) as index:
        assert index.replaced is None
        await IndexPipeline(client, deployment, IndexWriter(index, deployment)).catch_up()
        return read_rows(index)


async def test_network_that_was_reset_gets_its_own_index(tmp_path, define):
    """The node at the same URL has another chain after it was reset."""
    key, port, earlier = KeyPair.new(), 0, None
    for name in ("first", "second"):
        with ThreadedLocalnet(port=port) as net:
            net.fund(key.address, 1_000 * 10**9)
            port = int(net.url.rpartition(":")[2])
            network = Network("test", net.url, net.url)
            async with SuiClient(network, key, retry_policy=QUICK) as client:
                deployment = (await Publisher(client).publish()).deployment
                tools = ToolRegistry(client, deployment)
                await tools.register(Registration(define(f"xyz.example.{name}@1")))
                path = IndexIdentity.of(deployment).path(tmp_path)
                rows = await write_index(client, deployment, path)
                again = await write_index(client, deployment, tmp_path / f"{name}.sqlite")
                assert again == rows
                assert [row["name"] for row in rows["tools"]] == [name]
                if earlier is None:
                    earlier = deployment, path, rows
                    continue
                old_deployment, old_path, old_rows = earlier
                with pytest.raises(WrongStateError) as caught:
                    await write_index(client, old_deployment, old_path)
    assert caught.value.code == "index_chain_replaced"
    with closing(open_writer(old_path, IndexIdentity.of(old_deployment))) as index:
        assert index.replaced is None
        assert read_rows(index) == old_rows
