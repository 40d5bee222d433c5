"""The faucet's account, which holds the SUI of a new network and funds any address."""

import secrets
from base64 import b64encode
from collections.abc import Sequence

import pysui_fastcrypto

from nexus_tools.sui.errors import ValidationError, WrongStateError
from nexus_tools.sui.localnet.execution import Environment
from nexus_tools.sui.localnet.ledger import Ledger
from nexus_tools.sui.signature import TRANSACTION_INTENT, SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.coin import coin_balance
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN

KEY_SETTING = "faucet_key"
"""The name of the ledger setting that holds the seed of the faucet's key."""

_BUDGET_MIST = 50_000_000
_MAX_AMOUNTS = 250
_MAX_GAS_COINS = 256


class Faucet:
    """An Ed25519 key that transfers the coins of its address."""

    def __init__(self, seed: bytes) -> None:
        entry = b64encode(bytes([SignatureScheme.ED25519]) + seed).decode()
        _, public_key, _ = pysui_fastcrypto.keys_from_keystring(entry)
        self._seed = seed
        self.address = key_address(SignatureScheme.ED25519, bytes(public_key))

    @classmethod
    def of(cls, ledger: Ledger) -> "Faucet":
        """Load the faucet of a network, or create it with a random key in the ledger."""
        seed = ledger.setting(KEY_SETTING)
        if seed is None:
            seed = secrets.token_bytes(32)
            ledger.set_setting(KEY_SETTING, seed)
        return cls(seed)

    def transfer(
        self, ledger: Ledger, environment: Environment, recipient: Address, amounts: Sequence[int]
    ) -> TransactionData:
        """Return a transaction that sends one coin for each amount in MIST.

        Raises:
            ValidationError: `faucet_amount_invalid`.
            WrongStateError: `faucet_empty`.
        """
        if not 1 <= len(amounts) <= _MAX_AMOUNTS or any(amount <= 0 for amount in amounts):
            raise ValidationError(
                "faucet_amount_invalid",
                f"expected 1 to {_MAX_AMOUNTS} amounts, each of more than 0 MIST",
            )
        coins = self._coins(ledger, sum(amounts) + _BUDGET_MIST * len(amounts))
        builder = TransactionBuilder()
        split = builder.split_coins(builder.gas, amounts)
        builder.transfer_objects([split[index] for index in range(len(amounts))], recipient)
        gas = GasData(
            payment=tuple(coin.reference() for coin in coins),
            owner=self.address,
            price=environment.reference_gas_price,
            budget=_BUDGET_MIST * len(amounts),
        )
        return TransactionData(builder.finish(), self.address, gas, NoExpiration())

    def sign(self, data_bytes: bytes) -> bytes:
        """Return the serialized signature of a transaction."""
        return bytes(
            pysui_fastcrypto.sign_digest(
                SignatureScheme.ED25519,
                self._seed,
                b64encode(data_bytes).decode(),
                TRANSACTION_INTENT,
            )
        )

    def _coins(self, ledger: Ledger, needed_mist: int) -> list[Object]:
        """Return the smallest number of the faucet's largest coins that covers the amount.

        The transaction uses these coins as its gas payment, which merges them into one coin.
        """
        balance, coins = 0, []
        for coin in ledger.owned_by(self.address, GAS_COIN, limit=_MAX_GAS_COINS):
            coins.append(coin)
            balance += coin_balance(coin)
            if balance >= needed_mist:
                return coins
        raise WrongStateError(
            "faucet_empty",
            f"the faucet has only {balance} MIST, but the request needs {needed_mist} MIST",
            hint="Request a smaller amount, or start a new network.",
        )
