"""Faults that SQLite treats as a valid, older state, and all moments at which a process may die.

A copy of the directory while the ledger is open is the result of `kill -9` at that moment.
"""

import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.localnet.ledger import STATE_FILE_NAME, Ledger, delete_state

WRITER = Path(__file__).with_name("reverting_writer.py")
RECORD = "ledger.checkpoint"
WAL = f"{STATE_FILE_NAME}-wal"


@pytest.fixture
def write(chain_on):
    """Return a function that commits checkpoints, each with an object larger than a page."""

    def commit(ledger, count):
        chain = chain_on(ledger)
        chain.count = 0 if ledger.is_empty else ledger.latest.number + 1
        for _ in range(count):
            chain.commit(chain.coin(1, chain.count))

    return commit


@pytest.fixture
def killed_state(tmp_path, write):
    """Return the directory of a process killed after checkpoint 5, with all data in its log."""
    directory = tmp_path / "killed"
    with closing(Ledger.open(tmp_path / "state")) as ledger:
        write(ledger, 6)
        shutil.copytree(tmp_path / "state", directory)
    return directory


def last_checkpoint_number(directory):
    """Open the ledger in a directory and return the number of its last checkpoint."""
    with closing(Ledger.open(directory)) as ledger:
        return ledger.latest.number


def open_error(directory):
    with pytest.raises(ValidationError) as caught:
        Ledger.open(directory)
    return caught.value


# --- Faults


def test_open_accepts_the_state_of_a_killed_process(killed_state):
    assert last_checkpoint_number(killed_state) == 5


@pytest.mark.parametrize("checkpoint", range(6))
def test_open_refuses_a_log_with_a_flipped_bit(killed_state, checkpoint):
    log = bytearray((killed_state / WAL).read_bytes())
    place = len(log) * (2 * checkpoint + 1) // 12
    log[place] ^= 0x10
    (killed_state / WAL).write_bytes(log)
    error = open_error(killed_state)
    assert error.code == "state_incomplete"
    assert "had reached checkpoint 5 of chain" in error.message


def test_open_refuses_a_state_without_its_log(killed_state):
    (killed_state / WAL).unlink()
    assert open_error(killed_state).code == "state_incomplete"


@pytest.mark.parametrize("damage", ["truncated", "deleted"])
def test_open_refuses_a_lost_database_and_leaves_its_log(killed_state, damage):
    database = killed_state / STATE_FILE_NAME
    if damage == "truncated":
        database.write_bytes(b"")
    else:
        database.unlink()
    log = (killed_state / WAL).read_bytes()
    assert open_error(killed_state).code == "state_incomplete"
    assert (killed_state / WAL).read_bytes() == log
    assert open_error(killed_state).code == "state_incomplete"


def test_open_refuses_an_older_copy_of_the_database(tmp_path, write):
    with closing(Ledger.open(tmp_path)) as ledger:
        write(ledger, 3)
    older = (tmp_path / STATE_FILE_NAME).read_bytes()
    with closing(Ledger.open(tmp_path)) as ledger:
        write(ledger, 1)
    (tmp_path / STATE_FILE_NAME).write_bytes(older)
    error = open_error(tmp_path)
    assert error.code == "state_incomplete"
    assert "the ledger ends at checkpoint 2" in error.message


def test_open_refuses_the_database_of_another_chain(tmp_path, write, chain_on):
    with closing(Ledger.open(tmp_path / "one")) as ledger:
        write(ledger, 3)
    with closing(Ledger.open(tmp_path / "other")) as ledger:
        chain = chain_on(ledger)
        for _ in range(4):
            chain.commit(chain.coin(2, 1))
    shutil.copy(tmp_path / "other" / STATE_FILE_NAME, tmp_path / "one" / STATE_FILE_NAME)
    error = open_error(tmp_path / "one")
    assert error.code == "state_incomplete"
    assert "the ledger's checkpoint 2 is different" in error.message


@pytest.mark.parametrize("text", ["", "5", "5 x y\n", "\xff" * 150, "five " + "ab" * 32 + " cd"])
def test_open_refuses_an_unreadable_record_and_names_it(killed_state, text):
    (killed_state / RECORD).write_text(text, encoding="latin-1")
    error = open_error(killed_state)
    assert error.code == "state_damaged"
    assert str(killed_state / RECORD) in error.message


def test_open_refuses_a_record_with_another_number(killed_state):
    record = killed_state / RECORD
    record.write_text(record.read_text().replace(" 5 ", " 4 "))
    assert open_error(killed_state).code == "state_incomplete"


def test_hint_of_the_refusal_continues_with_the_rest(killed_state):
    (killed_state / WAL).unlink()
    record = open_error(killed_state).hint.split("`")[1]
    Path(record).unlink()
    with closing(Ledger.open(killed_state)) as ledger:
        assert ledger.is_empty


def test_open_accepts_a_state_from_before_the_record(killed_state):
    (killed_state / RECORD).unlink()
    assert last_checkpoint_number(killed_state) == 5
    (killed_state / STATE_FILE_NAME).write_bytes(b"")
    assert open_error(killed_state).code == "state_incomplete"


# --- Killed between two steps


def test_open_accepts_a_commit_without_its_record(tmp_path, write):
    with closing(Ledger.open(tmp_path / "state")) as ledger:
        write(ledger, 3)
        record = (tmp_path / "state" / RECORD).read_bytes()
        write(ledger, 1)
        shutil.copytree(tmp_path / "state", tmp_path / "killed")
    (tmp_path / "killed" / RECORD).write_bytes(record)
    assert last_checkpoint_number(tmp_path / "killed") == 3
    assert (tmp_path / "killed" / RECORD).read_bytes() != record


def test_open_accepts_a_genesis_without_its_record(tmp_path, write):
    with closing(Ledger.open(tmp_path / "state")) as ledger:
        write(ledger, 1)
        shutil.copytree(tmp_path / "state", tmp_path / "killed")
    (tmp_path / "killed" / RECORD).unlink()
    assert last_checkpoint_number(tmp_path / "killed") == 0


def test_open_accepts_a_record_that_moved_back_before_the_revert(tmp_path, write):
    with closing(Ledger.open(tmp_path / "state")) as ledger:
        write(ledger, 3)
        snapshot = ledger.snapshot()
        write(ledger, 2)
        shutil.copytree(tmp_path / "state", tmp_path / "killed")
        ledger.revert(snapshot)
        shutil.copy(tmp_path / "state" / RECORD, tmp_path / "killed" / RECORD)
    assert last_checkpoint_number(tmp_path / "killed") == 4


def test_open_refuses_a_loss_after_a_revert(tmp_path, write):
    with closing(Ledger.open(tmp_path / "state")) as ledger:
        write(ledger, 2)
        snapshot = ledger.snapshot()
        write(ledger, 1)
        ledger.revert(snapshot)
        shutil.copytree(tmp_path / "state", tmp_path / "reverted")
        write(ledger, 2)
        shutil.copy(tmp_path / "state" / RECORD, tmp_path / "reverted" / RECORD)
    assert open_error(tmp_path / "reverted").code == "state_incomplete"
    assert last_checkpoint_number(tmp_path / "state") == 3


def test_delete_state_can_be_repeated_when_it_was_killed(killed_state):
    """The record is deleted first, so that a deleted database does not count as lost."""
    (killed_state / RECORD).unlink()
    (killed_state / STATE_FILE_NAME).unlink()
    with closing(Ledger.open(killed_state)) as ledger:
        assert ledger.is_empty
    (killed_state / "mine.txt").write_text("not the localnet's")
    delete_state(killed_state)
    assert [path.name for path in killed_state.iterdir()] == ["mine.txt"]


def test_open_accepts_the_state_after_kill_9_during_commits_and_reverts(tmp_path):
    for lines in (1, 7, 23, 60):
        with subprocess.Popen(
            [sys.executable, WRITER, tmp_path],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": f"{WRITER.parent}:{WRITER.parents[4]}"},
        ) as writer:
            for _ in range(lines):
                assert writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        assert writer.returncode == -signal.SIGKILL
        assert last_checkpoint_number(tmp_path) >= 0
