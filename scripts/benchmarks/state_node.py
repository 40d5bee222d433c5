"""A node with many objects, in a separate process: `state_node COUNT`.

The process prints a line when the objects exist. Then the process reads commands:

    "memory"     the memory of the process in MiB
    "revert"     the seconds of a snapshot and a revert, without the transaction between them
    "transfers"  the transfers per CPU second, from 2 000 transfers that each create a coin
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.signed import signed, transfer
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner

_OWNER = Address(b"\x0b" * 32)
_COINS_PER_TRANSACTION = 200
_PAYER_MIST = 10**15
TRANSFERS = 2_000
_PAGE_BYTES = resource.getpagesize()


def main(count: int) -> None:
    """Fill the node, and execute commands until the input ends."""
    node = Node.open()
    for _ in range(count // _COINS_PER_TRANSACTION):
        node.fund(_OWNER, *[1] * _COINS_PER_TRANSACTION)
    payer = _Payer(node)
    answers: dict[str, Callable[[], float]] = {
        "memory": _memory,
        "revert": lambda: _revert(node),
        "transfers": payer.pay,
    }
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answers[json.loads(line)]()), flush=True)


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE_BYTES / 2**20


def _revert(node: Node) -> float:
    begin = perf_counter()
    snapshot = node.snapshot()
    taken = perf_counter() - begin
    node.fund(_OWNER, 1)
    begin = perf_counter()
    node.revert(snapshot)
    return taken + perf_counter() - begin


class _Payer:
    """A sender of transfers from one coin, which is large enough for all transfers."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._key = KeyPair.from_secret(SignatureScheme.ED25519, bytes(32))
        (coin,) = (
            value
            for value in node.fund(self._key.address, _PAYER_MIST).output_objects
            if value.owner == AddressOwner(self._key.address)
        )
        self._coin = coin.reference()

    def pay(self) -> float:
        begin = process_time()
        for _ in range(TRANSFERS):
            ((data, signature),) = signed(self._key, [self._coin], transfer)
            executed = self._node.execute(data, [signature])
            coins = {value.id: value for value in executed.output_objects}
            self._coin = coins[self._coin.object_id].reference()
        return TRANSFERS / (process_time() - begin)


if __name__ == "__main__":
    main(int(sys.argv[1]))
