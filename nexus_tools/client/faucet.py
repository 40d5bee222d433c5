"""Faucets: free SUI on test networks."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nexus_tools.client.network import Network
from nexus_tools.errors import NotFoundError, NotNowError, UnreachableError
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest

_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Gift:
    """A coin that a faucet sent. The amount is in MIST."""

    amount: int
    coin: Address
    transaction: Digest


async def request_sui(network: Network, recipient: Address) -> tuple[Gift, ...]:
    """Ask the network's faucet for SUI.

    Raises `faucet_missing`, `faucet_busy` or `faucet_failed`.
    """
    import httpx  # noqa: PLC0415 - loaded when a faucet is asked

    if network.faucet_url is None:
        raise NotFoundError(
            "faucet_missing",
            f"{network.name} has no faucet",
            hint="send SUI to the address from another wallet",
        )
    request = {"FixedAmountRequest": {"recipient": str(recipient)}}
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S) as http:
            response = await http.post(f"{network.faucet_url.rstrip('/')}/v2/gas", json=request)
    except httpx.HTTPError as error:
        raise _failed(network, str(error) or type(error).__name__) from error
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        raise NotNowError(
            "faucet_busy",
            f"the faucet of {network.name} has given enough for now",
            hint="wait a few minutes, or use the web page of the faucet",
        )
    return _gifts(network, response)


def _gifts(network: Network, response: Any) -> tuple[Gift, ...]:
    try:
        answer = response.json()
        if response.is_success and answer["status"] == "Success":
            return tuple(
                Gift(
                    coin["amount"],
                    Address.parse(coin["id"]),
                    Digest.parse(coin["transferTxDigest"]),
                )
                for coin in answer["coins_sent"]
            )
    except (ValueError, KeyError, TypeError):
        pass
    raise _failed(network, f"HTTP {response.status_code}: {response.text[:200]}")


def _failed(network: Network, reason: str) -> UnreachableError:
    return UnreachableError(
        "faucet_failed",
        f"the faucet of {network.name} at {network.faucet_url} gives nothing: {reason}",
        hint="try again later, or check the faucet's URL",
    )
