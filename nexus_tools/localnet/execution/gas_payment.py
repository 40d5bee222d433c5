"""The coins that pay for a transaction: checked, and smashed into the first of them."""

from dataclasses import dataclass, replace

from nexus_tools.localnet.execution.coins import coin_balance, coin_contents, is_gas_coin
from nexus_tools.localnet.execution.environment import Environment, Mode
from nexus_tools.localnet.execution.errors import TransactionRefused
from nexus_tools.localnet.execution.limits import MAX_TX_GAS
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import AddressOwner, MoveObject, Object
from nexus_tools.sui.transaction import TransactionData
from nexus_tools.sui.type_tag import GAS_COIN

MOCK_COIN_ID = Address(b"\xff" * 32)
MOCK_COIN_BALANCE = 1_000_000_000_000_000_000
"""MIST; as `SIMULATION_GAS_COIN_VALUE` of real nodes."""

_NO_TRANSACTION = Digest(bytes(32))


@dataclass(frozen=True, slots=True)
class GasPayment:
    """The coin that is left after smashing, what is in it (MIST), and the coins that went in."""

    coin: Object
    balance: int
    smashed: tuple[Object, ...]

    def coin_with(self, balance: int, version: int) -> MoveObject:
        """The coin with another balance."""
        return MoveObject(
            GAS_COIN,
            has_public_transfer=True,
            version=version,
            contents=coin_contents(self.coin.id, balance),
        )


def smash(coins: tuple[Object, ...]) -> GasPayment:
    """All coins in the first one. Refuses what is no coin of SUI, or not an address's own."""
    balance = 0
    for coin in coins:
        if not isinstance(coin.owner, AddressOwner):
            raise TransactionRefused(
                "gas_object_not_owned_object",
                f"Gas object is not an owned object with owner: {coin.owner}",
            )
        if not is_gas_coin(coin):
            raise TransactionRefused("invalid_gas_object", f"Object {coin.id} is not a gas object")
        assert isinstance(coin.data, MoveObject)
        balance += coin_balance(coin.data)
    return GasPayment(coins[0], balance, coins[1:])


def mock_payment(owner: Address) -> tuple[Object, ...]:
    """A coin that exists for a simulation alone."""
    data = MoveObject(
        GAS_COIN,
        has_public_transfer=True,
        version=1,
        contents=coin_contents(MOCK_COIN_ID, MOCK_COIN_BALANCE),
    )
    return (Object(data, AddressOwner(owner), _NO_TRANSACTION, 0),)


def with_simulated_gas(data: TransactionData, environment: Environment) -> TransactionData:
    """A transaction without payment, with price and budget where they are missing."""
    gas = data.gas
    return replace(
        data,
        gas=replace(
            gas,
            price=gas.price or environment.reference_gas_price,
            budget=gas.budget or MAX_TX_GAS,
        ),
    )


def needs_mock_payment(data: TransactionData, mode: Mode) -> bool:
    """Whether a coin is made up. Refuses a missing payment where it counts."""
    if data.gas.payment:
        return False
    if mode is Mode.COMMIT:
        raise TransactionRefused("missing_gas_payment", "Transaction gas payment missing")
    return True
