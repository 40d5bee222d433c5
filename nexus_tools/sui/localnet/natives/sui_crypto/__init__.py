"""The native functions of 0x2 for cryptography, with one file per Move module."""

from nexus_tools.sui.localnet.natives.sui_crypto.bls12381 import NATIVES as BLS12381_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.ecdsa_k1 import NATIVES as ECDSA_K1_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.ecdsa_r1 import NATIVES as ECDSA_R1_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.ecvrf import NATIVES as ECVRF_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.ed25519 import NATIVES as ED25519_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.groth16 import NATIVES as GROTH16_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.group_ops import NATIVES as GROUP_OPS_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.hash import NATIVES as HASH_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.hmac import NATIVES as HMAC_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.nitro_attestation import (
    NATIVES as NITRO_ATTESTATION_NATIVES,
)
from nexus_tools.sui.localnet.natives.sui_crypto.poseidon import NATIVES as POSEIDON_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.vdf import NATIVES as VDF_NATIVES
from nexus_tools.sui.localnet.natives.sui_crypto.zklogin import NATIVES as ZKLOGIN_NATIVES
from nexus_tools.sui.localnet.natives.table import NativeTable

NATIVES: NativeTable = {
    **BLS12381_NATIVES,
    **ECDSA_K1_NATIVES,
    **ECDSA_R1_NATIVES,
    **ECVRF_NATIVES,
    **ED25519_NATIVES,
    **GROTH16_NATIVES,
    **GROUP_OPS_NATIVES,
    **HASH_NATIVES,
    **HMAC_NATIVES,
    **NITRO_ATTESTATION_NATIVES,
    **POSEIDON_NATIVES,
    **VDF_NATIVES,
    **ZKLOGIN_NATIVES,
}
"""The native functions by address, module name and function name."""

__all__ = ["NATIVES"]
