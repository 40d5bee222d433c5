"""Reads update the clock with a checkpoint, and also work if it cannot be stored."""

import pytest

from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server.endpoints import endpoint
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.types.address import CLOCK

START_MS = 1_750_000_000_000


class WallClock:
    now_ms = START_MS

    def __call__(self):
        return self.now_ms


@pytest.fixture
def clock():
    return WallClock()


@pytest.fixture
def backend(tmp_path, messages, clock):
    node = Node.open(tmp_path, wall_clock=clock)
    json = JsonRenderer(node.machine)
    yield Backend(node, messages, Limits(), json)
    node.close()


@pytest.fixture
def ask(backend):
    def ask(name, **fields):
        found = endpoint(backend, f"/sui.rpc.v2.LedgerService/{name}")
        request = found.procedure.request(**fields).SerializeToString()
        return found.procedure.response.FromString(found.respond(request))

    return ask


def set_writable(backend, *, whether):
    """Let SQLite accept or refuse writes."""
    backend.node.ledger._state.rows(f"PRAGMA query_only = {int(not whether)}")


READS = {
    "GetServiceInfo": {},
    "GetObject": {"object_id": str(CLOCK)},
    "BatchGetObjects": {"requests": [{"object_id": str(CLOCK)}]},
    "GetCheckpoint": {},
}


@pytest.mark.parametrize("name", READS)
def test_read_returns_existing_data_when_the_disk_is_full(ask, backend, clock, name):
    before = ask(name, **READS[name])
    set_writable(backend, whether=False)
    clock.now_ms += 5_000
    assert ask(name, **READS[name]) == before


@pytest.mark.parametrize("name", READS)
def test_clock_continues_when_the_disk_has_space_again(ask, backend, clock, name):
    set_writable(backend, whether=False)
    clock.now_ms += 5_000
    ask("GetServiceInfo")
    set_writable(backend, whether=True)
    ask(name, **READS[name])
    assert backend.node.ledger.latest.summary.timestamp_ms == START_MS + 5_000
