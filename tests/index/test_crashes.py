"""The writer is killed between any two statements, or an error interrupts it."""

import shutil
from contextlib import closing

import pytest

from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.index import IndexIdentity, IndexWriter, open_reader, open_writer
from tests.index.conftest import rows_of
from tests.index.synthetic import DEPLOYMENT, Events

IDENTITY = IndexIdentity.of(DEPLOYMENT)


def history():
    """Return batches of events, and a checkpoint inside them."""
    events = Events()
    batches = [[events.tool(1), events.leader(1), events.lock(1)]]
    batches += [events.invocation(number, tool=1, leader=1) for number in range(4)]
    return batches, batches[2][0].checkpoint


def snapshot(index):
    with closing(open_reader(index.path, IDENTITY)) as connection:
        cursor = connection.execute("SELECT value FROM cursor").fetchone()
        return cursor[0], rows_of(connection)


class Killing:
    """Copies the files of an index before each statement, as a killed process leaves them."""

    def __init__(self, index, folder):
        self.index = index
        self.folder = folder
        self.copies = []
        index.connection.set_trace_callback(self._copy)

    def _copy(self, _statement):
        folder = self.folder / str(len(self.copies))
        folder.mkdir(parents=True)
        for file in self.index.path.parent.glob("index.sqlite*"):
            if not file.name.endswith(("-shm", ".lock")):
                shutil.copy(file, folder)
        self.copies.append(folder / "index.sqlite")

    def stop(self):
        self.index.connection.set_trace_callback(None)


@pytest.mark.long
def test_killed_writer_leaves_whole_batches(tmp_path):
    batches, common = history()
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    writer = IndexWriter(index, DEPLOYMENT)
    states = dict([snapshot(index)])
    killing = Killing(index, tmp_path / "copies")
    for batch in batches:
        writer.apply(batch)
        states |= [snapshot(index)]
    writer.save_definitions({tuple(item[:2]): "a\nb" for item in writer.pending_definitions(9)})
    with_words = snapshot(index)
    writer.roll_back(common)
    states |= [snapshot(index)]
    killing.stop()
    assert len(killing.copies) > 100
    for path in killing.copies:
        copy = open_writer(path, IDENTITY)
        assert copy.replaced is None
        cursor, rows = snapshot(copy)
        assert rows in (states[cursor], with_words[1])
        copy.close()
    index.close()


def test_killed_writer_continues_to_the_same_rows(tmp_path):
    batches, _ = history()
    items = [item for batch in batches for item in batch]
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    writer = IndexWriter(index, DEPLOYMENT)
    killing = Killing(index, tmp_path / "copies")
    for batch in batches:
        writer.apply(batch)
    killing.stop()
    _, complete = snapshot(index)
    for path in killing.copies[::7]:
        copy = open_writer(path, IDENTITY)
        continued = IndexWriter(copy, DEPLOYMENT)
        position = continued.cursor.position
        missing = [item for item in items if item.cursor.position > position]
        if missing:
            continued.apply(missing)
        assert snapshot(copy)[1] == complete
        copy.close()
    index.close()


class Failing:
    """Interrupts SQLite once, after a number of steps of 40 instructions."""

    def __init__(self, connection, steps):
        self.connection = connection
        self.steps = steps

    def _step(self):
        self.steps -= 1
        return self.steps == 0

    def __enter__(self):
        self.connection.set_progress_handler(self._step, 40)

    def __exit__(self, *_):
        self.connection.set_progress_handler(None, 0)


def test_error_at_any_statement_changes_nothing(tmp_path):
    batches, _ = history()
    expected = open_writer(tmp_path / "expected.sqlite", IDENTITY)
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    writer, codes = IndexWriter(index, DEPLOYMENT), set()
    for batch in batches:
        before = snapshot(index)
        steps = 1
        while (code := failure(writer, batch, steps)) is not None:
            codes.add(code)
            assert snapshot(index) == before
            steps += 1
        IndexWriter(expected, DEPLOYMENT).apply(batch)
        assert steps > 5
        assert snapshot(index) == snapshot(expected)
    assert codes == {"index_failed"}
    index.close()
    expected.close()


def failure(writer, batch, steps):
    """Write a batch that is interrupted, and return the code of the error or None."""
    try:
        with Failing(writer.connection, steps):
            writer.apply(batch)
    except NexusError as error:
        return error.code
    return None


def test_second_writer_is_refused_by_the_lock(tmp_path):
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    with pytest.raises(WrongStateError) as caught:
        open_writer(tmp_path / "index.sqlite", IDENTITY)
    assert caught.value.code == "index_locked"
    index.close()
    open_writer(tmp_path / "index.sqlite", IDENTITY).close()


def test_second_writer_without_lock_cannot_mix_batches(tmp_path):
    batches, _ = history()
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    first, second = IndexWriter(index, DEPLOYMENT), IndexWriter(index, DEPLOYMENT)
    first.apply(batches[0])
    before = snapshot(index)
    with pytest.raises(WrongStateError) as caught:
        second.apply(batches[0])
    assert caught.value.code == "index_taken_over"
    with pytest.raises(WrongStateError):
        second.roll_back(0)
    assert snapshot(index) == before
    index.close()
