"""Signing keys in keystores, in encrypted files, and in the files of the Sui CLI and pysui.

Start with `wallet.py`.
"""

from nexus_tools.sui.keystore.keys import KeyPair, MultiSigSigner, Signer
from nexus_tools.sui.keystore.pysui_config import (
    PysuiConfigFile,
    active_network,
    network_and_key,
)
from nexus_tools.sui.keystore.remote_signer import RemoteSigner, SignerCredentials
from nexus_tools.sui.keystore.signing import SIGNING_TIMEOUT_S, sign_transaction
from nexus_tools.sui.keystore.sui_cli_config import SuiCliConfig
from nexus_tools.sui.keystore.wallet import Account, Wallet

__all__ = [
    "SIGNING_TIMEOUT_S",
    "Account",
    "KeyPair",
    "MultiSigSigner",
    "PysuiConfigFile",
    "RemoteSigner",
    "Signer",
    "SignerCredentials",
    "SuiCliConfig",
    "Wallet",
    "active_network",
    "network_and_key",
    "sign_transaction",
]
