import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.ledger import Ledger, State
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import SUI

WRITER = Path(__file__).with_name("node_writer.py")


def test_restarted_node_serves_the_same_chain(tmp_path, wall_clock, accounts, bob):
    first = Node.open(tmp_path, wall_clock=wall_clock)
    account = accounts()
    first.fund(account.address, 1_000_000_000)
    executed = account.pay(first, bob, 7)
    chain_id, latest, environment = first.chain_id, first.ledger.latest, first.environment
    first.close()
    second = Node.open(tmp_path, wall_clock=wall_clock)
    assert second.chain_id == chain_id
    assert second.ledger.latest == latest
    assert second.environment == environment
    assert second.ledger.transaction(executed.digest) == executed
    account.pay(second, bob, 8)
    assert second.ledger.balance(bob, SUI).amount == 15
    second.close()


def test_state_without_a_genesis_gets_one(tmp_path, wall_clock, bob):
    Ledger.open(tmp_path).close()
    node = Node.open(tmp_path, wall_clock=wall_clock)
    node.fund(bob, 1)
    assert node.ledger.latest.number == 1
    node.close()


def test_failed_open_releases_the_state(tmp_path, wall_clock):
    Node.open(tmp_path, wall_clock=wall_clock).close()
    with closing(State.open(tmp_path)) as state, state.commit():
        state.set_setting("clock_advances", b"\xff")
    with pytest.raises(BcsError):
        Node.open(tmp_path, wall_clock=wall_clock)
    State.open(tmp_path).close()


def test_transaction_from_before_a_restart_is_not_executed_again(
    tmp_path, wall_clock, accounts, bob
):
    first = Node.open(tmp_path, wall_clock=wall_clock)
    account = accounts()
    first.fund(account.address, 1_000_000_000)
    data = account.payment(first, bob, 7)
    executed = account.send(first, data)
    first.close()
    second = Node.open(tmp_path, wall_clock=wall_clock)
    assert account.send(second, data) == executed
    assert second.ledger.balance(bob, SUI).amount == 7
    second.close()


def test_acknowledged_transactions_survive_kill_9(tmp_path, bob):
    writer = subprocess.Popen(
        [sys.executable, WRITER, tmp_path],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(WRITER.parents[4])},
    )
    with writer:
        lines = [writer.stdout.readline() for _ in range(30)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    assert writer.returncode == -signal.SIGKILL
    acknowledged = [line.split() for line in lines if line.endswith("\n")]
    node = Node.open(tmp_path)
    for checkpoint, digest in acknowledged:
        (found,) = node.ledger.checkpoint(int(checkpoint)).transactions
        assert str(found.digest) == digest
        assert node.ledger.transaction(Digest.parse(digest)) == found
    last = node.ledger.latest.number
    assert last >= len(acknowledged)
    # Checkpoint n gave n MIST: 1 + 2 + … + last.
    assert node.ledger.balance(bob, SUI).amount == last * (last + 1) // 2
    for number in range(1, last + 1):
        previous = node.ledger.summary(number - 1).digest()
        assert node.ledger.summary(number).previous_digest == previous
    node.fund(bob, 1)
    node.close()
