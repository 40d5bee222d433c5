import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import UsageError
from nexus_tools.tool_server import MemoryNonceStore, SqliteNonceStore
from nexus_tools.tool_server.signatures.nonces import NonceStoreFullError

NOW = 1_800_000_000


@pytest.fixture(params=["memory", "file"])
def nonces(request, tmp_path):
    if request.param == "memory":
        yield MemoryNonceStore(3)
        return
    shared = SqliteNonceStore(tmp_path / "nonces.sqlite", 3)
    yield shared
    shared.close()


def test_nonce_is_accepted_once_for_each_signer(nonces):
    assert nonces.take("0xa", "n", NOW + 60, NOW)
    assert not nonces.take("0xa", "n", NOW + 60, NOW)
    assert nonces.take("0xb", "n", NOW + 60, NOW)


def test_flooding_signer_does_not_affect_others(nonces):
    for number in range(3):
        assert nonces.take("0xa", str(number), NOW + 60, NOW)
    with pytest.raises(NonceStoreFullError):
        nonces.take("0xa", "more", NOW + 60, NOW)
    assert nonces.take("0xb", "n", NOW + 60, NOW)
    # Used nonces are known although the store is full. Later it has space again.
    assert not nonces.take("0xa", "0", NOW + 60, NOW)
    assert nonces.take("0xa", "more", NOW + 160, NOW + 100)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 330)), max_size=60))
def test_requests_are_forgotten_only_after_expiry(steps):
    nonces = MemoryNonceStore()
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


def test_memory_does_not_cover_requests_before_start():
    assert MemoryNonceStore(now=lambda: NOW).since_s == NOW


TAKE = """
import sys
from pathlib import Path
from nexus_tools.tool_server.signatures.nonces import SqliteNonceStore
print(SqliteNonceStore(Path(sys.argv[1])).take("0xa", "n", int(sys.argv[2]) + 60, int(sys.argv[2])))
"""


def test_nonce_is_accepted_by_one_process_only(tmp_path):
    command = [sys.executable, "-c", TAKE, tmp_path / "nonces.sqlite", str(NOW)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(worker.communicate()[0] for worker in workers) == ["False\n", "False\n", "True\n"]


def test_file_survives_restart_and_is_private(tmp_path):
    path = tmp_path / "nonces.sqlite"
    first = SqliteNonceStore(path)
    assert first.take("0xa", "n", NOW + 60, NOW)
    first.close()
    second = SqliteNonceStore(path)
    assert not second.take("0xa", "n", NOW + 60, NOW)
    assert second.since_s == 0
    second.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_unwritable_file_accepts_no_request(tmp_path):
    with pytest.raises(UsageError) as refused:
        SqliteNonceStore(tmp_path / "missing" / "nonces.sqlite")
    assert refused.value.code == "state_unusable"
    nonces = SqliteNonceStore(tmp_path / "nonces.sqlite")
    nonces.close()
    with pytest.raises(NonceStoreFullError):
        nonces.take("0xa", "n", NOW + 60, NOW)
