"""A process that executes transfers and acknowledges each on its output."""

import sys
from pathlib import Path

from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.address import Address

node = Node.open(Path(sys.argv[1]))
for amount in range(1, 100_000):
    executed = node.fund(Address.of(0xB0B), amount)
    sys.stdout.write(f"{executed.checkpoint} {executed.digest}\n")
    sys.stdout.flush()
