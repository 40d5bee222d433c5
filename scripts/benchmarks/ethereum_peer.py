"""eth-tester with py-evm, the peer of the localnet in the benchmark `ethereum`.

This program runs in its own environment, without this project. The program prints a line when it is
ready. Each input line is `["transfer" | "call", count]`. The response is the time in seconds for
`count` signed transactions, one per block.
"""

import json
import sys
from time import perf_counter

from eth_account import Account
from eth_tester import EthereumTester, PyEVMBackend

_CHAIN_ID = 131277322940537  # the chain ID of eth-tester
_GWEI = 10**9
# The last ten bytes are the contract: SLOAD 0, add 1, SSTORE 0. The code before these bytes returns
# the contract.
_COUNTER = bytes.fromhex("600a600c600039600a6000f3" + "60005460010160005500")


class Network:
    """The network, and a funded account on it."""

    def __init__(self) -> None:
        backend = PyEVMBackend()
        self._tester = EthereumTester(backend)
        self._account = Account.from_key(backend.account_keys[0].to_bytes())
        self._nonce = 0
        self._targets = {"transfer": self._tester.get_accounts()[1]}
        deployed = self._tester.send_raw_transaction(self._signed(b"", 0, _COUNTER))
        receipt = self._tester.get_transaction_receipt(deployed)
        self._targets["call"] = receipt["contract_address"]

    def seconds(self, what: str, count: int) -> float:
        """Return the duration of `count` transactions, which are signed before."""
        value = 1 if what == "transfer" else 0
        signed = [self._signed(self._targets[what], value) for _ in range(count)]
        begin = perf_counter()
        for transaction in signed:
            self._tester.send_raw_transaction(transaction)
        return perf_counter() - begin

    def _signed(self, to: str | bytes, value: int, data: bytes = b"") -> str:
        fields = {
            "to": to,
            "value": value,
            "data": data,
            "nonce": self._nonce,
            "gas": 200_000,
            "maxFeePerGas": 2 * _GWEI,
            "maxPriorityFeePerGas": _GWEI,
            "chainId": _CHAIN_ID,
        }
        self._nonce += 1
        return "0x" + bytes(self._account.sign_transaction(fields).raw_transaction).hex()


def main() -> None:
    """Serve until the input ends."""
    network = Network()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(network.seconds(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
