"""The native functions of `sui::ecdsa_r1`, for the signatures of passkeys (secp256r1)."""

from nexus_tools.sui.localnet.crypto.ecdsa import ECDSA_R1
from nexus_tools.sui.localnet.natives.sui_crypto.ecdsa_k1 import EcdsaNatives
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.types.address import SUI_FRAMEWORK

_CURVE = EcdsaNatives(ECDSA_R1, recover_cost=1_173, verify_cost=4_225)

NATIVES = natives_of(
    SUI_FRAMEWORK,
    "ecdsa_r1",
    secp256r1_ecrecover=_CURVE.recover,
    secp256r1_verify=_CURVE.verify,
)
