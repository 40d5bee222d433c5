"""The reasons why some calls cannot be compared: the wheel changes or omits native functions.

The wheel contains Sui's own VM and Sui's native functions of `std`. The author of the wheel wrote
the native functions of `sui`. Where these functions differ from `sui-move-natives`, a comparison is
useless.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from differential.localnet_vm import ANOTHER_TYPE
from genuine import LIMIT, Outcome

Native = tuple[str, str]


class Cause(StrEnum):
    """The class of a reason."""

    ABSENT = "the localnet does not implement the native"
    WHEELS_OWN = "the wheel implements the native differently"
    LIMIT = "the wheel has no limits on objects"
    BREAKS = "the process crashes for arguments that the function's callers refuse"
    ENDLESS = "the call does not end in time"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a call was not compared. `detail` names a native function and its behavior."""

    cause: Cause
    detail: str = ""


_FEATURES = "expects a number instead of the feature's name"
_HASH = "validates the signature before the number of the hash function"
_READS_AS_ASKED = "reads a field of another type as the requested type"
_RECEIVE = "expects another struct than the framework passes"

# Native functions that the framework declares but the wheel lacks. The wheel therefore does not
# load their modules.
LACKED: dict[str, frozenset[str]] = {
    "nitro_attestation": frozenset({"load_nitro_attestation_internal"}),
    "poseidon": frozenset({"poseidon_bn254_internal"}),
    "vdf": frozenset({"hash_to_input_internal", "vdf_verify_internal"}),
    "zklogin_verified_id": frozenset({"check_zklogin_id_internal"}),
    "zklogin_verified_issuer": frozenset({"check_zklogin_issuer_internal"}),
}
# Native functions that take values in the wheel, although the framework passes references.
BY_VALUE: dict[str, frozenset[str]] = {
    "bls12381": frozenset({"bls12381_min_sig_verify", "bls12381_min_pk_verify"}),
    "ecdsa_k1": frozenset({"decompress_pubkey", "secp256k1_ecrecover", "secp256k1_verify"}),
    "ecdsa_r1": frozenset({"secp256r1_ecrecover", "secp256r1_verify"}),
    "ed25519": frozenset({"ed25519_verify"}),
    "groth16": frozenset({"prepare_verifying_key_internal", "verify_groth16_proof_internal"}),
    "group_ops": frozenset(
        {
            "internal_validate",
            "internal_add",
            "internal_sub",
            "internal_mul",
            "internal_div",
            "internal_hash_to",
            "internal_multi_scalar_mul",
            "internal_pairing",
            "internal_convert",
            "internal_sum",
        }
    ),
    "hash": frozenset({"blake2b256", "keccak256"}),
}
# Native functions whose results cannot be compared, and the behavior of the wheel's function.
WHEELS_OWN: dict[Native, str] = {
    ("address", "to_u256"): "is little-endian",
    ("address", "from_u256"): "is little-endian",
    ANOTHER_TYPE: "reports that the field exists",
    ("config", "read_setting_impl"): "does not have any settings",
    ("ecvrf", "ecvrf_verify"): "accepts every proof",
    ("event", "emit_authenticated_impl"): "interprets its first argument as the event",
    ("funds_accumulator", "add_to_accumulator_address"): "always aborts",
    ("funds_accumulator", "withdraw_from_accumulator_address"): "always aborts",
    ("group_ops", "internal_convert"): "returns its argument unchanged",
    ("group_ops", "internal_sum"): "expects one vector of compressed points",
    ("hmac", "hmac_sha3_256"): "returns 32 zeros for every input",
    ("protocol_config", "is_feature_enabled"): _FEATURES,
    ("transfer", "receive_impl"): _RECEIVE,
    ("validator", "validate_metadata_bcs"): "accepts everything",
    **{
        (module, name): "is missing in the wheel"
        for module, names in LACKED.items()
        for name in names
    },
}
# Native functions that abort differently, by the abort code of Sui's function. Their results are
# compared.
WHEELS_OWN_ABORTS: dict[tuple[str, str, int], str] = {
    ("address", "from_bytes", 0): "aborts with 1",
    ("dynamic_field", "borrow_child_object", 2): _READS_AS_ASKED,
    ("dynamic_field", "borrow_child_object_mut", 2): _READS_AS_ASKED,
    ("dynamic_field", "remove_child_object", 2): "aborts with 1, as if the field did not exist",
    ("ecdsa_k1", "secp256k1_ecrecover", 0): _HASH,
    ("ecdsa_r1", "secp256r1_ecrecover", 0): _HASH,
    ("group_ops", "internal_hash_to", 1): "also hashes an empty message",
    ("transfer", "share_object_impl", 0): "shares objects that are neither new nor shared",
}

# Private native functions that crash the process for arguments that their public callers refuse.
ONLY_THROUGH_CALLERS: frozenset[Native] = frozenset(
    {
        ("string", "internal_sub_string"),
        ("string", "internal_index_of"),
        ("string", "internal_is_char_boundary"),
    }
)


def explanation(module: str, natives: AbstractSet[Native], outcome: Outcome) -> Reason | None:
    """Return the reason why a call of a function in `module` cannot be compared, or None.

    `natives` are the native functions that the call used, and `outcome` is its outcome in the
    localnet.
    """
    if outcome.status.startswith(LIMIT):
        return Reason(Cause.LIMIT)
    for native in sorted(natives):
        own = _wheels_own(module, native, outcome)
        if own:
            return Reason(Cause.WHEELS_OWN, f"{'::'.join(native)}, which {own}")
    return None


def _wheels_own(module: str, native: Native, outcome: Outcome) -> str | None:
    """Return how the wheel's native function differs from Sui's in a call, or None."""
    own_abort = WHEELS_OWN_ABORTS.get((*native, outcome.sub_status or 0))
    if own_abort and outcome.place[1:2] == (native[0],):
        return own_abort
    is_public = not native[1].startswith("internal_") and not native[1].endswith("_internal")
    if native[0] != module and is_public and native[1] in BY_VALUE.get(native[0], ()):
        return "does not accept references from other modules"
    return WHEELS_OWN.get(native)
