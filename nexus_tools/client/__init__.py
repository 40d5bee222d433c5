"""Talk to Sui: networks, wallets, reading objects, sending transactions, following events."""

from nexus_tools.client.connection import Patience, UnsupportedByNodeError
from nexus_tools.client.event_stream import Cursor, EventFilter, EventRecord, Progress
from nexus_tools.client.events import follow_events
from nexus_tools.client.executed import CreatedObject, Executed, Simulated
from nexus_tools.client.faucet import Gift, request_sui
from nexus_tools.client.gas import in_sui
from nexus_tools.client.keys import KeyPair, Signer
from nexus_tools.client.multisig import (
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    MultiSigSigner,
)
from nexus_tools.client.network import (
    DEVNET,
    LOCALNET,
    MAINNET,
    NETWORKS,
    TESTNET,
    Network,
    known_network,
)
from nexus_tools.client.reads import Coin, DynamicField
from nexus_tools.client.sui_client import SuiClient
from nexus_tools.client.wallet import Account, Wallet

__all__ = [
    "DEVNET",
    "LOCALNET",
    "MAINNET",
    "NETWORKS",
    "TESTNET",
    "Account",
    "Coin",
    "CreatedObject",
    "Cursor",
    "DynamicField",
    "EventFilter",
    "EventRecord",
    "Executed",
    "Gift",
    "KeyPair",
    "MultiSig",
    "MultiSigMember",
    "MultiSigPublicKey",
    "MultiSigSigner",
    "Network",
    "Patience",
    "Progress",
    "Signer",
    "Simulated",
    "SuiClient",
    "UnsupportedByNodeError",
    "Wallet",
    "follow_events",
    "in_sui",
    "known_network",
    "request_sui",
]
