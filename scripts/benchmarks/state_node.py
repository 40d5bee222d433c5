"""A node with many objects, in a process of its own: `state_node COUNT`.

Prints a line when it has them. `"memory"` is met with the MiB that the process holds,
`"revert"` with the seconds that a snapshot and a revert take, without the transaction in between.
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from nexus_tools.localnet.node import Node
from nexus_tools.sui.address import Address

_OWNER = Address(b"\x0b" * 32)
_COINS_PER_TRANSACTION = 200
_PAGE_BYTES = resource.getpagesize()


def main(count: int) -> None:
    """Fill the node, and answer until the input ends."""
    node = Node.open()
    for _ in range(count // _COINS_PER_TRANSACTION):
        node.fund(_OWNER, *[1] * _COINS_PER_TRANSACTION)
    answers: dict[str, Callable[[], float]] = {"memory": _memory, "revert": lambda: _revert(node)}
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


if __name__ == "__main__":
    main(int(sys.argv[1]))
