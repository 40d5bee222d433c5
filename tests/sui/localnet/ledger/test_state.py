import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from nexus_tools.errors import NexusError, ValidationError, WrongStateError
from nexus_tools.sui.localnet.ledger import STATE_FILE_NAME, CoinBalance, Ledger, State
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import SUI, StructTag

ALICE = Address.of(0xA)
TOOL = StructTag(Address.of(0x77), "tool", "Tool")
WRITER = Path(__file__).with_name("state_writer.py")


@pytest.fixture
def written(chain_on, tmp_path):
    """Return a directory with three checkpoints of a network."""
    with closing(Ledger.open(tmp_path)) as ledger:
        chain = chain_on(ledger)
        chain.commit(chain.coin(1, 100), chain.coin(2, 50), events=[chain.event(TOOL)])
        chain.commit(chain.coin(1, 60), removed=[2])
        chain.commit(chain.coin(3, 7))
        ledger.set_setting("key", b"secret")
    return tmp_path


# --- Reloading


def test_all_data_survives_a_restart(written):
    with closing(Ledger.open(written)) as ledger:
        assert ledger.latest.number == 2
        assert ledger.get(Address.of(1)).version == 2
        assert ledger.get(Address.of(2)) is None
        assert ledger.get_version(Address.of(2), 1).version == 1
        assert ledger.balance(ALICE, SUI) == CoinBalance(67, 2)
        assert [event.event.type for event in ledger.events()] == [TOOL]
        assert ledger.setting("key") == b"secret"


def test_restarted_ledger_continues_where_it_stopped(written, chain_on):
    with closing(Ledger.open(written)) as ledger:
        chain = chain_on(ledger)
        chain.count = 100
        checkpoint = chain.commit(chain.coin(1, 59))
    with closing(Ledger.open(written)) as ledger:
        assert ledger.latest == checkpoint
        assert checkpoint.summary.previous_digest == ledger.checkpoint(2).digest


def test_revert_is_durable(chain_on, tmp_path):
    with closing(Ledger.open(tmp_path)) as ledger:
        chain = chain_on(ledger)
        genesis = chain.commit(chain.coin(1, 100))
        snapshot = ledger.snapshot()
        chain.commit(chain.coin(1, 1), events=[chain.event(TOOL)])
        ledger.revert(snapshot)
    with closing(Ledger.open(tmp_path)) as ledger:
        assert ledger.latest == genesis
        assert ledger.balance(ALICE, SUI) == CoinBalance(100, 1)
        assert ledger.events() == []


def test_snapshot_survives_a_restart(written, chain_on):
    with closing(Ledger.open(written)) as ledger:
        snapshot = ledger.snapshot()
        chain = chain_on(ledger)
        chain.count = 100
        chain.commit(chain.coin(1, 1))
    with closing(Ledger.open(written)) as ledger:
        ledger.revert(snapshot)
        assert ledger.latest.number == 2


def test_failed_commit_leaves_nothing(written):
    with closing(State(written / STATE_FILE_NAME)) as state:
        with pytest.raises(ZeroDivisionError):
            write_and_fail(state)
        assert state.setting("key") == b"secret"


def write_and_fail(state):
    with state.commit():
        state.set_setting("key", b"other")
        raise ZeroDivisionError


# --- Without a directory


def test_history_without_a_directory_is_in_an_unnamed_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    before = unnamed_file_sizes()
    with closing(State()) as state, state.commit():
        for number in range(100):
            state.set_setting(str(number), bytes(100_000))
        assert sum(unnamed_file_sizes()) - sum(before) > 5_000_000
        assert list(tmp_path.iterdir()) == []
    assert unnamed_file_sizes() == before


def unnamed_file_sizes():
    """Return the sizes of this process's open files that have no name."""
    found = []
    for number in range(256):
        with suppress(OSError):
            status = os.fstat(number)
            if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                found.append(status.st_size)
    return found


def test_failed_commit_leaves_nothing_in_the_unnamed_file():
    with closing(State()) as state:
        with state.commit():
            state.set_setting("key", b"secret")
        with pytest.raises(ZeroDivisionError):
            write_and_fail(state)
        assert state.setting("key") == b"secret"


# --- Killed


def test_acknowledged_checkpoints_survive_kill_9(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, WRITER, tmp_path],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": f"{WRITER.parent}:{WRITER.parents[4]}"},
    )
    with writer:
        lines = [writer.stdout.readline() for _ in range(40)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    acknowledged = [line.split() for line in lines if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    with closing(Ledger.open(tmp_path)) as ledger:
        for number, checkpoint, transaction in acknowledged:
            found = ledger.checkpoint(int(number))
            assert str(found.digest) == checkpoint
            assert ledger.transaction(Digest.parse(transaction)) == found.transactions[0]
        assert ledger.latest.number >= int(acknowledged[-1][0])
        assert ledger.balance(ALICE, SUI).coins == ledger.latest.number + 2
        for number in range(1, ledger.latest.number + 1):
            previous = ledger.summary(number - 1).digest()
            assert ledger.summary(number).previous_digest == previous


# --- Refused


def test_second_process_gets_state_locked(written):
    program = (
        "import sys; from pathlib import Path; from nexus_tools.sui.localnet.ledger import State\n"
        "State.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, written],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(WRITER.parents[4])},
    )
    with holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(WrongStateError) as caught:
            Ledger.open(written)
        holder.stdin.close()
    assert caught.value.code == "state_locked"
    assert str(written) in caught.value.message


def test_lock_is_released_by_close(written):
    Ledger.open(written).close()
    Ledger.open(written).close()


def test_file_that_is_not_a_database_is_damaged(tmp_path):
    (tmp_path / STATE_FILE_NAME).write_bytes(b"not a database at all, but long enough" * 50)
    with pytest.raises(ValidationError) as caught:
        Ledger.open(tmp_path)
    assert caught.value.code == "state_damaged"


def test_database_of_another_program_is_not_changed(tmp_path):
    with closing(sqlite3.connect(tmp_path / STATE_FILE_NAME)) as connection:
        connection.execute("CREATE TABLE guests (name)")
    with pytest.raises(ValidationError) as caught:
        Ledger.open(tmp_path)
    assert caught.value.code == "state_damaged"
    with closing(sqlite3.connect(tmp_path / STATE_FILE_NAME)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("guests",)]


def test_state_of_another_format_is_refused(written):
    with closing(sqlite3.connect(written / STATE_FILE_NAME)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ValidationError) as caught:
        Ledger.open(written)
    assert caught.value.code == "state_format_unsupported"
    assert "99" in caught.value.message


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE objects SET bytes = x'00' WHERE bytes IS NOT NULL",
        "UPDATE checkpoints SET summary = x'00'",
        "UPDATE checkpoints SET digest = zeroblob(32) WHERE number = 2",
        "UPDATE transactions SET data = x'00'",
        "UPDATE transactions SET effects = x'00'",
        "UPDATE transactions SET signatures = x'05'",
        "DELETE FROM transactions WHERE number = 0",
        "DELETE FROM checkpoints WHERE number = 1",
        "DELETE FROM checkpoints WHERE number = 2",
    ],
)
def test_modified_state_is_damaged(written, statement):
    with closing(sqlite3.connect(written / STATE_FILE_NAME)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(ValidationError) as caught:
        Ledger.open(written)
    assert caught.value.code == "state_damaged"


@pytest.mark.parametrize("page", range(12))
def test_state_with_a_random_page_is_damaged_or_intact(written, page):
    file = written / STATE_FILE_NAME
    data = bytearray(file.read_bytes())
    start = page * 4096 + 100
    data[start : start + 3000] = b"\xa5" * len(data[start : start + 3000])
    file.write_bytes(data)
    assert reading_all(written) in ([0, 1, 2], "state_damaged")


def reading_all(directory):
    try:
        with closing(Ledger.open(directory)) as ledger:
            return [ledger.checkpoint(number).number for number in range(3)]
    except ValidationError as error:
        return error.code


def test_directory_that_cannot_be_created_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NexusError) as caught:
        Ledger.open(tmp_path / "file" / "state")
    assert caught.value.code == "state_write_failed"
    assert "file" in caught.value.message
