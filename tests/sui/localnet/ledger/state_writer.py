"""A process that commits one checkpoint after another and acknowledges each on its output."""

import sys
from pathlib import Path

from conftest import Chain

from nexus_tools.sui.localnet.ledger import Ledger

chain = Chain(Ledger.open(Path(sys.argv[1])))
for balance in range(100_000):
    checkpoint = chain.commit(chain.coin(1, balance), chain.coin(2 + balance, 7))
    line = f"{checkpoint.number} {checkpoint.digest} {checkpoint.transactions[0].digest}\n"
    sys.stdout.write(line)
    sys.stdout.flush()
