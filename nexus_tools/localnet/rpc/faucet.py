"""The faucet: SUI for whoever asks, over HTTP.

Source: `sui-faucet/src/{requests,responses}.rs`; version 1 and version 2 of its interface.
"""

import json
from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import NexusError
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.rendering.coin import coin_balance, is_gas_coin
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import AddressOwner

FAUCET_MIST = 200_000_000_000
"""What one request gives: 200 SUI."""


def request_gas(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Serve `{"FixedAmountRequest": {"recipient": "0x…"}}` with a status and a JSON object."""
    try:
        recipient = _recipient(json.loads(body))
        coins = _send(node, recipient)
    except (ValueError, RecursionError, TypeError) as error:
        return 400, _failure(f"the request is not understood: {error}")
    except NexusError as error:
        return 400, _failure(str(error))
    return 200, {"status": "Success", "coins_sent": coins}


def request_gas_v1(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """The same in the form of version 1."""
    status, answer = request_gas(node, body)
    if status == 200:
        return 201, {"transferredGasObjects": answer["coins_sent"], "error": None}
    return status, {"transferredGasObjects": [], "error": answer["status"]["Failure"]["internal"]}


def _recipient(request: Any) -> Address:
    if not isinstance(request, Mapping):
        raise TypeError("it is not a JSON object")
    fixed = request.get("FixedAmountRequest")
    if not isinstance(fixed, Mapping) or not isinstance(fixed.get("recipient"), str):
        raise TypeError("FixedAmountRequest.recipient is missing")
    return Address.parse(fixed["recipient"])


def _send(node: Node, recipient: Address) -> list[dict[str, Any]]:
    executed = node.fund(recipient, FAUCET_MIST)
    return [
        {
            "amount": coin_balance(coin),
            "id": str(coin.id),
            "transferTxDigest": str(executed.digest),
        }
        for coin in executed.output_objects
        if is_gas_coin(coin) and coin.owner == AddressOwner(recipient)
    ]


def _failure(message: str) -> dict[str, Any]:
    return {"status": {"Failure": {"internal": message}}, "coins_sent": None}
