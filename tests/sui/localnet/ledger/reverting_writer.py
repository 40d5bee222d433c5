"""A process that commits checkpoints and reverts some of them, until it is killed."""

import sys
from itertools import count
from pathlib import Path

from conftest import Chain

from nexus_tools.sui.localnet.ledger import Ledger

chain = Chain(Ledger.open(Path(sys.argv[1])))
if not chain.ledger.is_empty:
    chain.count = 1000 * (chain.ledger.latest.number + 1)
for turn in count():
    chain.commit(chain.coin(1, turn))
    snapshot = chain.ledger.snapshot()
    chain.commit(chain.coin(1, turn), chain.coin(2 + turn, 7))
    if turn % 3:
        chain.ledger.revert(snapshot)
    sys.stdout.write(f"{turn}\n")
    sys.stdout.flush()
