"""User signatures by a key, a passkey or a multisig, and the addresses of their signers."""

from nexus_tools.sui.signature.ecdsa import is_valid_ecdsa_digest_signature, sign_ecdsa_digest
from nexus_tools.sui.signature.key_signature import KeySignature
from nexus_tools.sui.signature.multisig import MemberSignature, MultiSig
from nexus_tools.sui.signature.multisig_public_key import MultiSigMember, MultiSigPublicKey
from nexus_tools.sui.signature.passkey import Passkey
from nexus_tools.sui.signature.scheme import (
    INVALID_SIGNATURE_PREFIX,
    PERSONAL_MESSAGE_INTENT,
    TRANSACTION_INTENT,
    SignatureScheme,
    key_address,
)
from nexus_tools.sui.signature.transaction_signers import check_signatures
from nexus_tools.sui.signature.user_signature import Authenticator, UserSignature
from nexus_tools.sui.signature.zklogin import ZkLogin
from nexus_tools.sui.support.ed25519 import verify_ed25519

__all__ = [
    "INVALID_SIGNATURE_PREFIX",
    "PERSONAL_MESSAGE_INTENT",
    "TRANSACTION_INTENT",
    "Authenticator",
    "KeySignature",
    "MemberSignature",
    "MultiSig",
    "MultiSigMember",
    "MultiSigPublicKey",
    "Passkey",
    "SignatureScheme",
    "UserSignature",
    "ZkLogin",
    "check_signatures",
    "is_valid_ecdsa_digest_signature",
    "key_address",
    "sign_ecdsa_digest",
    "verify_ed25519",
]
