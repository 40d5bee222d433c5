"""Faucets: free SUI on test networks."""

from http import HTTPStatus
from typing import Any

from msgspec import Struct

from nexus_tools.sui.errors import NotFoundError, UnreachableError, WrongStateError
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.tls import shared_tls
from nexus_tools.sui.support.units import format_sui_argument, sui
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

_TIMEOUT_S = 60.0


class FaucetCoin(Struct, frozen=True):
    """A coin that a faucet sent. The amount is in MIST."""

    amount: int
    coin: Address
    transaction: Digest


def faucet_command(network: Network, owner: Address, mist: int | None = None) -> str | None:
    """Return the CLI command that requests SUI for an address from the network's faucet.

    Returns None if the network does not have a faucet, or does not have a profile that the command
    can name.
    """
    if network.faucet_url is None or not network.has_profile:
        return None
    amount = "" if mist is None else f" --amount {format_sui_argument(mist)}"
    return f"nexus-tools localnet faucet {owner}{amount} -n {network.quoted_name}"


def funding_hint(
    network: Network, owner: Address, mist: int | None = None, *, into_balance: bool = False
) -> str:
    """Return a hint that explains how to send at least `mist` MIST to an address.

    A faucet sends coins. To fund the address balance, an owner of coins must deposit them.
    """
    amount = "SUI" if mist is None else f"{sui(mist)} or more"
    if into_balance:
        if not network.has_profile:
            return f"Deposit {amount} in the address balance of {owner}."
        exact = "AMOUNT" if mist is None else format_sui_argument(mist)
        name = network.quoted_name
        return f"Run `nexus-tools wallet transfer {owner} {exact} --deposit -n {name}`."
    command = faucet_command(network, owner, mist)
    if command is not None:
        return f"Run `{command}` to get SUI."
    if network.faucet_url is not None:
        return f"Send {amount} to {owner}, for example with `nexus_tools.sui.client.request_sui`."
    return f"Send {amount} to {owner} on {network.name}."


async def request_sui(
    network: Network,
    recipient: Address,
    amount_mist: int | None = None,
    *,
    timeout_s: float = _TIMEOUT_S,
) -> tuple[FaucetCoin, ...]:
    """Request SUI from the network's faucet.

    A localnet sends exactly `amount_mist`. Other faucets ignore `amount_mist` and send their
    configured amount.

    Raises:
        NexusError: `faucet_missing`, `faucet_busy` or `faucet_failed`.
    """
    import httpx  # noqa: PLC0415 - only needed for faucets

    if network.faucet_url is None:
        raise NotFoundError(
            "faucet_missing",
            f"{network.name} does not have a faucet",
            hint="Send SUI to the address from another wallet.",
        )
    fixed: dict[str, Any] = {"recipient": str(recipient)}
    if amount_mist is not None:
        fixed["amount_mist"] = amount_mist
    url, request = f"{network.faucet_url.rstrip('/')}/v2/gas", {"FixedAmountRequest": fixed}
    try:
        async with httpx.AsyncClient(verify=shared_tls(), timeout=timeout_s) as http:
            response = await http.post(url, json=request)
    except httpx.TimeoutException as error:
        late = _failed(network, f"no response within {timeout_s:g} s")
        late.details["timeout_s"] = timeout_s
        raise late from error
    except httpx.HTTPError as error:
        raise _failed(network, str(error) or type(error).__name__) from error
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        raise WrongStateError(
            "faucet_busy",
            f"the faucet of {network.name} is rate limited",
            hint="Wait a few minutes, or use the faucet's web page.",
        )
    return _gifts(network, response)


def _gifts(network: Network, response: Any) -> tuple[FaucetCoin, ...]:
    reason = f"HTTP {response.status_code}: {response.text[:200]}"
    try:
        document = response.json()
        if response.is_success and document["status"] == "Success" and document["coins_sent"]:
            return tuple(
                FaucetCoin(
                    coin["amount"],
                    Address.parse(coin["id"]),
                    Digest.parse(coin["transferTxDigest"]),
                )
                for coin in document["coins_sent"]
            )
        reason = str(document["status"]["Failure"]["internal"])[:200]
    except (ValueError, KeyError, TypeError):
        pass
    raise _failed(network, reason)


def _failed(network: Network, reason: str) -> UnreachableError:
    return UnreachableError(
        "faucet_failed",
        f"the faucet of {network.name} at {network.faucet_url} failed: {reason}",
        hint="Try again later, or check the faucet's URL.",
    )
