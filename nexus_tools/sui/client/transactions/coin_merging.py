"""Coin merging, for wallets with more coins than one transaction can use."""

from collections.abc import Callable, Sequence

from nexus_tools.sui.client.coins.coin_pool import MAX_PAYMENT_COINS, InsufficientFundsError
from nexus_tools.sui.client.reads import Coin
from nexus_tools.sui.client.transactions.transactions import Executed
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.transaction_builder import TransactionBuilder

MAX_MERGED_COINS = 1_000
"""The maximum number of coins that one transaction merges.

Each coin takes 75 bytes, and a transaction has at most 128 KiB.
"""

OnMerge = Callable[[Executed, int], None]
"""A callback that receives each transaction that merged coins, and the number of merged coins."""

_MAX_ARGUMENTS = 500  # Arguments per command. The protocol allows 511.
_BASE_UNITS, _COIN_UNITS = 10_000, 1_000  # Maximum gas of a transaction and of each coin.

_log = get_logger(__name__)


def coins_to_merge(coins: Sequence[Coin], price: int) -> list[Coin]:
    """Choose the coins that a transaction merges into the gas coin. Larger coins pay for the gas.

    For example, a wallet has 300 coins of 0.01 SUI, and the gas price is 1 000 MIST. Merging 271 of
    these coins costs up to 0.281 SUI, so the other 29 coins pay.
    """
    coins = sorted(coins, key=lambda coin: -coin.balance)
    paid = 0
    for count, coin in enumerate(coins[:MAX_PAYMENT_COINS], 1):
        paid += coin.balance
        smaller_coins = coins[count : count + MAX_MERGED_COINS]
        if paid >= (_BASE_UNITS + _COIN_UNITS * len(smaller_coins)) * price:
            return smaller_coins
    affordable = max(0, paid // price - _BASE_UNITS) // _COIN_UNITS
    return coins[MAX_PAYMENT_COINS:][: min(affordable, MAX_MERGED_COINS)]


def build_merge(coins: Sequence[Coin]) -> TransactionBuilder:
    """Build the transaction that merges coins into the gas coin."""
    builder = TransactionBuilder()
    for start in range(0, len(coins), _MAX_ARGUMENTS):
        batch = coins[start : start + _MAX_ARGUMENTS]
        sources = [builder.object(coin.reference.object_id) for coin in batch]
        builder.merge_coins(builder.gas, sources)
    return builder


def log_merge(executed: Executed, count: int) -> None:
    """Log that a transaction merged coins."""
    _log.info("coins_merged", coins=count, digest=str(executed.digest), cost=sui(executed.cost.net))


def too_many_coins_error(required: int | None, available: int) -> InsufficientFundsError:
    """Return the error for a wallet whose SUI is in too many coins for one transaction."""
    error = InsufficientFundsError(required, available)
    error.message = (
        f"the wallet has enough SUI, but it is in too many coins: one transaction can use at most"
        f" {MAX_PAYMENT_COINS} coins, and the largest of them contain {sui(available)}"
    )
    error.hint = "Merge the coins with `nexus-tools wallet merge` or `SuiClient.merge_coins`."
    return error
