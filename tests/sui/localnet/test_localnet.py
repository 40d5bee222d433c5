import asyncio
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from nexus_tools.errors import RefusedOnChainError, UsageError, WrongStateError
from nexus_tools.sui.localnet import Localnet, ThreadedLocalnet
from nexus_tools.sui.types.address import Address

BOB = Address.of(0xB0B)
DAY_MS = 86_400_000


async def health(localnet):
    async with httpx.AsyncClient() as http:
        return (await http.get(f"{localnet.url}/health")).json()


async def test_network_responds_between_start_and_stop():
    localnet = Localnet()
    await localnet.start()
    assert (await health(localnet))["status"] == "ok"
    await localnet.stop()
    with pytest.raises(httpx.ConnectError):
        await health(localnet)


async def test_second_stop_does_nothing_and_second_start_creates_a_new_network():
    localnet = Localnet()
    async with localnet:
        first = localnet.node.chain_id
    await localnet.stop()
    async with localnet:
        assert localnet.node.chain_id != first


async def test_stopped_network_raises_localnet_stopped():
    with pytest.raises(WrongStateError) as caught:
        Localnet().fund(BOB, 1)
    assert caught.value.code == "localnet_stopped"


async def test_second_start_of_a_running_network_is_refused():
    async with Localnet() as localnet:
        with pytest.raises(WrongStateError) as caught:
            await localnet.start()
        assert caught.value.code == "localnet_running"
        assert (await health(localnet))["status"] == "ok"


async def test_port_in_use_is_reported():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError) as caught:
            await Localnet(port=taken.getsockname()[1]).start()
    assert caught.value.code == "port_unavailable"


async def test_two_networks_run_side_by_side():
    async with Localnet() as first, Localnet() as second:
        assert first.port != second.port
        assert first.node.chain_id != second.node.chain_id


async def test_fund_and_advance_clock_change_the_network():
    async with Localnet() as localnet:
        executed = localnet.fund(BOB, 5)
        assert [change.amount for change in executed.balance_changes if change.address == BOB] == [
            5
        ]
        before = localnet.node.now_ms()
        assert localnet.advance_clock(DAY_MS) >= before + DAY_MS


async def test_advance_epoch_and_seed_randomness_change_the_network():
    async with Localnet() as localnet:
        localnet.seed_randomness(b"seed")
        assert [localnet.advance_epoch() for _ in range(2)] == [1, 2]
        assert localnet.node.environment.epoch == 2


async def test_revert_returns_to_a_snapshot():
    async with Localnet() as localnet:
        snapshot = localnet.snapshot()
        for _ in range(2):
            localnet.fund(BOB, 5)
            assert len(localnet.node.ledger.owned_by(BOB)) == 1
            localnet.revert(snapshot)
            assert localnet.node.ledger.owned_by(BOB) == []


async def test_state_outlives_the_network(tmp_path):
    async with Localnet(state=tmp_path) as localnet:
        chain = localnet.node.chain_id
        executed = localnet.fund(BOB, 5)
    async with Localnet(state=tmp_path) as localnet:
        assert localnet.node.chain_id == chain
        assert len(localnet.node.ledger.owned_by(BOB)) == 1
        trace = localnet.trace(executed.digest)
        assert trace.is_faithful
        assert trace.commands[1].arguments[1].value.content == BOB


async def test_state_is_locked_by_one_network_at_a_time(tmp_path):
    async with Localnet(state=tmp_path):
        with pytest.raises(WrongStateError) as caught:
            await Localnet(state=tmp_path).start()
    assert caught.value.code == "state_locked"


async def test_failed_start_releases_the_state(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError):
            await Localnet(port=taken.getsockname()[1], state=tmp_path).start()
    async with Localnet(state=tmp_path) as localnet:
        assert localnet.node.ledger.latest.number == 0


async def test_stop_ends_open_connections():
    async with Localnet() as localnet:
        reader, writer = await asyncio.open_connection("127.0.0.1", localnet.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    async with asyncio.timeout(5):
        await reader.read()  # ends only when the connection does
    writer.close()
    await writer.wait_closed()


def test_threaded_localnet_serves_a_synchronous_program():
    with ThreadedLocalnet() as localnet:
        snapshot = localnet.snapshot()
        localnet.fund(BOB, 5)
        assert httpx.get(f"{localnet.url}/health").json()["checkpoint"] == 1
        assert localnet.advance_clock(DAY_MS) > 0
        localnet.seed_randomness(b"seed")
        assert localnet.advance_epoch() == 1
        localnet.revert(snapshot)
        executed = localnet.fund(BOB, 5)
        assert localnet.trace(executed.digest).is_faithful
        with pytest.raises(RefusedOnChainError):  # its coins are spent
            localnet.trace_transaction(executed.data_bytes)
        localnet.revert(snapshot)
        trace = localnet.trace_transaction(executed.data_bytes)
        assert trace.commands[0].results[0]["balance"].content == 5
        assert httpx.get(f"{localnet.url}/health").json()["checkpoint"] == 0


def test_threaded_localnet_raises_the_error_of_a_failed_start(tmp_path):
    with ThreadedLocalnet(state=tmp_path), pytest.raises(WrongStateError):
        ThreadedLocalnet(state=tmp_path).__enter__()


PROGRAM = """
import asyncio
from nexus_tools.sui.localnet import Localnet

async def main():
    async with Localnet() as localnet:
        print(localnet.url, flush=True)
        await asyncio.Event().wait()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("goodbye", flush=True)
"""


def test_keyboard_interrupt_stops_the_network_cleanly():
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline().startswith("http://127.0.0.1:")
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
    assert (out, err, program.returncode) == ("goodbye\n", "", 0)


def test_package_is_imported_without_the_server():
    program = (
        "import sys, nexus_tools.sui.localnet;"
        "assert not {'h2', 'grpc', 'google.protobuf'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
