import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import UsageError
from nexus_tools.tool_server import MemoryNonces, SqliteNonces
from nexus_tools.tool_server.signatures.nonces import NoncesFullError

NOW = 1_800_000_000


@pytest.fixture(params=["memory", "file"])
def nonces(request, tmp_path):
    if request.param == "memory":
        yield MemoryNonces(3)
        return
    shared = SqliteNonces(tmp_path / "nonces.sqlite", 3)
    yield shared
    shared.close()


def test_a_request_is_taken_once(nonces):
    assert nonces.take("0xa", "n", NOW + 60, NOW)
    assert not nonces.take("0xa", "n", NOW + 60, NOW)
    assert nonces.take("0xb", "n", NOW + 60, NOW)


def test_a_signer_who_floods_fills_his_own_room_alone(nonces):
    for number in range(3):
        assert nonces.take("0xa", str(number), NOW + 60, NOW)
    with pytest.raises(NoncesFullError):
        nonces.take("0xa", "more", NOW + 60, NOW)
    assert nonces.take("0xb", "n", NOW + 60, NOW)
    # What was taken is known although there is no room, and there is room again later.
    assert not nonces.take("0xa", "0", NOW + 60, NOW)
    assert nonces.take("0xa", "more", NOW + 160, NOW + 100)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 330)), max_size=60))
def test_no_request_is_forgotten_while_it_would_pass_and_all_are_later(steps):
    nonces = MemoryNonces()
    now, alive = NOW, {}
    for number, (seconds, lifetime) in enumerate(steps):
        now += seconds
        until = now + lifetime
        assert nonces.take("0xa", str(number), until, now)
        alive[str(number)] = until
        for nonce, end in alive.items():
            if end > now:
                assert not nonces.take("0xa", nonce, end, now)
    assert nonces.take("0xa", "last", NOW + 10_000, NOW + 9_000)
    assert len(nonces) == 1


def test_what_was_signed_before_a_process_began_is_not_remembered_by_it():
    assert MemoryNonces(now=lambda: NOW).since_s == NOW


TAKE = """
import sys
from pathlib import Path
from nexus_tools.tool_server.signatures.nonces import SqliteNonces
print(SqliteNonces(Path(sys.argv[1])).take("0xa", "n", int(sys.argv[2]) + 60, int(sys.argv[2])))
"""


def test_of_many_processes_one_takes_a_request(tmp_path):
    command = [sys.executable, "-c", TAKE, tmp_path / "nonces.sqlite", str(NOW)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(worker.communicate()[0] for worker in workers) == ["False\n", "False\n", "True\n"]


def test_a_file_outlives_its_process_and_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "nonces.sqlite"
    first = SqliteNonces(path)
    assert first.take("0xa", "n", NOW + 60, NOW)
    first.close()
    second = SqliteNonces(path)
    assert not second.take("0xa", "n", NOW + 60, NOW)
    assert second.since_s == 0
    second.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_takes_nothing(tmp_path):
    with pytest.raises(UsageError) as refused:
        SqliteNonces(tmp_path / "missing" / "nonces.sqlite")
    assert refused.value.code == "state_unusable"
    nonces = SqliteNonces(tmp_path / "nonces.sqlite")
    nonces.close()
    with pytest.raises(NoncesFullError):
        nonces.take("0xa", "n", NOW + 60, NOW)
