"""Keys: keystore files, encrypted keys, and the files of the Sui CLI and of pysui.

Begin with `wallet.py`.
"""

from nexus_tools.sui.keystore.keys import KeyPair, MultiSigSigner, Signer
from nexus_tools.sui.keystore.pysui_config import PysuiFiles, network_and_key
from nexus_tools.sui.keystore.sui_cli_config import SuiFiles
from nexus_tools.sui.keystore.wallet import Account, Wallet

__all__ = [
    "Account",
    "KeyPair",
    "MultiSigSigner",
    "PysuiFiles",
    "Signer",
    "SuiFiles",
    "Wallet",
    "network_and_key",
]
