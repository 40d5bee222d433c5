"""The faucet: SUI for whoever asks, over HTTP.

Source: `sui-faucet/src/{requests,responses}.rs`; version 1 and version 2 of its interface. The
amount is our addition: other faucets give what they are set to, and overlook the field.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.coin import coin_balance, is_gas_coin
from nexus_tools.sui.types.object import AddressOwner

FAUCET_COINS_MIST = (200_000_000_000,) * 5
"""The coins that a request gives which names no amount: five of 200 SUI, as of `sui start`."""

MAX_FAUCET_MIST = 1_000_000_000_000_000
"""What one request gives at most: a million SUI."""


def request_gas(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Serve `{"FixedAmountRequest": {"recipient": "0x…"}}` with a status and a JSON object.

    Beside `recipient`, `amount_mist` may say how much it is to be, in one coin then.
    """
    try:
        fixed = _fixed_amount(json.loads(body))
        coins = _send(node, _recipient(fixed), _amounts_mist(fixed))
    except (ValueError, RecursionError, TypeError) as error:
        return 400, _failure(f"the request is not understood: {error}")
    except NexusError as error:
        return 400, _failure(str(error))
    return 200, {"status": "Success", "coins_sent": coins}


def request_gas_v1(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """The same in the form of version 1, with that of version 2 beside it.

    Faucets of today respond in the form of version 2 whatever the path.
    """
    status, response = request_gas(node, body)
    if status == 200:
        return 201, {**response, "transferredGasObjects": response["coins_sent"], "error": None}
    error = response["status"]["Failure"]["internal"]
    return status, {**response, "transferredGasObjects": [], "error": error}


def _fixed_amount(request: Any) -> Mapping[str, Any]:
    if not isinstance(request, Mapping):
        raise TypeError("it is not a JSON object")
    fixed = request.get("FixedAmountRequest")
    return fixed if isinstance(fixed, Mapping) else {}


def _recipient(fixed: Mapping[str, Any]) -> Address:
    if not isinstance(fixed.get("recipient"), str):
        raise TypeError("FixedAmountRequest.recipient is missing")
    return Address.parse(fixed["recipient"])


def _amounts_mist(fixed: Mapping[str, Any]) -> tuple[int, ...]:
    if "amount_mist" not in fixed:
        return FAUCET_COINS_MIST
    amount = fixed["amount_mist"]
    if type(amount) is not int or not 1 <= amount <= MAX_FAUCET_MIST:
        raise ValueError(
            f"FixedAmountRequest.amount_mist is no whole number from 1 to {MAX_FAUCET_MIST}"
        )
    return (amount,)


def _send(node: Node, recipient: Address, amounts_mist: Sequence[int]) -> list[dict[str, Any]]:
    executed = node.fund(recipient, *amounts_mist)
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
