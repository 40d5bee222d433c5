"""Talk to Sui: networks, wallets, reading objects, sending transactions, following events."""

from nexus_tools.client.connection import Connection, Patience
from nexus_tools.client.epoch import Epoch, read_epoch
from nexus_tools.client.event_following import follow_events, past_events
from nexus_tools.client.events import Cursor, EventFilter, EventRecord, Mark, Progress
from nexus_tools.client.execution_failure import explains_refusal, gas_taken_mist
from nexus_tools.client.faucet import Gift, faucet_command, how_to_fund, request_sui
from nexus_tools.client.grpc_errors import UnsupportedByNodeError
from nexus_tools.client.keys import KeyPair, MultiSigSigner, Signer
from nexus_tools.client.lineage import WENT_BACK
from nexus_tools.client.network import (
    DEVNET,
    LOCALNET,
    MAINNET,
    MAX_GAS_PRICE_MIST,
    NETWORKS,
    TESTNET,
    Network,
)
from nexus_tools.client.purse import MAX_PAYMENT_COINS, GasSource
from nexus_tools.client.pysui_files import PysuiFiles, network_and_key
from nexus_tools.client.reads import Balance, Coin, DynamicField
from nexus_tools.client.sui_client import SuiClient
from nexus_tools.client.sui_files import SuiFiles
from nexus_tools.client.transactions import (
    CreatedObject,
    Executed,
    SignedTransaction,
    Simulated,
    execute_transaction,
    simulate_transaction,
)
from nexus_tools.client.unbound import UnboundClient
from nexus_tools.client.wallet import Account, Wallet
from nexus_tools.sui.signature import MultiSig, MultiSigMember, MultiSigPublicKey

__all__ = [
    "DEVNET",
    "LOCALNET",
    "MAINNET",
    "MAX_GAS_PRICE_MIST",
    "MAX_PAYMENT_COINS",
    "NETWORKS",
    "TESTNET",
    "WENT_BACK",
    "Account",
    "Balance",
    "Coin",
    "Connection",
    "CreatedObject",
    "Cursor",
    "DynamicField",
    "Epoch",
    "EventFilter",
    "EventRecord",
    "Executed",
    "GasSource",
    "Gift",
    "KeyPair",
    "Mark",
    "MultiSig",
    "MultiSigMember",
    "MultiSigPublicKey",
    "MultiSigSigner",
    "Network",
    "Patience",
    "Progress",
    "PysuiFiles",
    "SignedTransaction",
    "Signer",
    "Simulated",
    "SuiClient",
    "SuiFiles",
    "UnboundClient",
    "UnsupportedByNodeError",
    "Wallet",
    "execute_transaction",
    "explains_refusal",
    "faucet_command",
    "follow_events",
    "gas_taken_mist",
    "how_to_fund",
    "network_and_key",
    "past_events",
    "read_epoch",
    "request_sui",
    "simulate_transaction",
]
