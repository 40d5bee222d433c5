"""The HTTP interface of the faucet, which sends SUI to any address.

This faucet serves versions 1 and 2 of the interface in `sui-faucet/src/{requests,responses}.rs`.
The field for the amount is an extension of this faucet. Other faucets ignore the field and send a
configured amount.
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
"""The coins for a request without an amount: five coins of 200 SUI, like those of `sui start`."""

MAX_FAUCET_MIST = 1_000_000_000_000_000
"""The largest amount of one request, which is a million SUI."""


def request_gas(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Serve a request such as `{"FixedAmountRequest": {"recipient": "0x…"}}`.

    The request may also set `amount_mist`. In this case, the faucet sends one coin with this
    amount. The result is an HTTP status and a JSON object.
    """
    try:
        fixed_amount = _fixed_amount(json.loads(body))
        coins = _send(node, _recipient(fixed_amount), _amounts_mist(fixed_amount))
    except (ValueError, RecursionError, TypeError) as error:
        return 400, _failure(f"invalid request: {error}")
    except NexusError as error:
        return 400, _failure(str(error))
    return 200, {"status": "Success", "coins_sent": coins}


def request_gas_v1(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Serve a request like `request_gas`, with the fields of both versions in the response.

    Current faucets respond with the fields of version 2 on every path.
    """
    status, response = request_gas(node, body)
    if status == 200:
        return 201, {**response, "transferredGasObjects": response["coins_sent"], "error": None}
    error = response["status"]["Failure"]["internal"]
    return status, {**response, "transferredGasObjects": [], "error": error}


def _fixed_amount(request: Any) -> Mapping[str, Any]:
    if not isinstance(request, Mapping):
        raise TypeError("expected a JSON object")
    fixed_amount = request.get("FixedAmountRequest")
    return fixed_amount if isinstance(fixed_amount, Mapping) else {}


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
            f"FixedAmountRequest.amount_mist must be an integer from 1 to {MAX_FAUCET_MIST}"
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
