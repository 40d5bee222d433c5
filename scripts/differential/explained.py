"""The reasons why some calls cannot be compared: the wheel changes or omits native functions.

The wheel contains Sui's own VM and Sui's native functions of `std`. The author of the wheel wrote
its native functions of `sui`. Where they differ from `sui-move-natives`, a comparison is useless.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from differential.localnet_vm import ANOTHER_TYPE
from genuine import LIMIT, Outcome

Native = tuple[str, str]


class Cause(StrEnum):
    """The class of a reason."""

    ABSENT = "the localnet does not have the native"
    WHEELS_OWN = "the wheel's native is another one"
    LIMIT = "the wheel has no limits on objects"
    BREAKS = "the process breaks for what the function's callers refuse"
    ENDLESS = "no end in sight"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a call was not compared. `detail` is a native function and its effect."""

    cause: Cause
    detail: str = ""


_FEATURES = "takes a number for the name of a feature"
_HASH = "looks at the signature before the number of the hash"
_READS_AS_ASKED = "reads a field of another type as one of the type that is asked for"
_RECEIVE = "takes another struct than the framework gives it"

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
# Native functions whose results cannot be compared, and what the wheel's function does instead.
WHEELS_OWN: dict[Native, str] = {
    ("address", "to_u256"): "is little-endian",
    ("address", "from_u256"): "is little-endian",
    ANOTHER_TYPE: "says that there is one",
    ("config", "read_setting_impl"): "knows no settings",
    ("ecvrf", "ecvrf_verify"): "says yes to every proof",
    ("event", "emit_authenticated_impl"): "takes its first argument for the event",
    ("funds_accumulator", "add_to_accumulator_address"): "aborts always",
    ("funds_accumulator", "withdraw_from_accumulator_address"): "aborts always",
    ("group_ops", "internal_convert"): "gives what it is given",
    ("group_ops", "internal_sum"): "takes one vector of compressed points",
    ("hmac", "hmac_sha3_256"): "gives 32 zeros for every input",
    ("protocol_config", "is_feature_enabled"): _FEATURES,
    ("transfer", "receive_impl"): _RECEIVE,
    ("validator", "validate_metadata_bcs"): "accepts everything",
    **{(module, name): "is not there" for module, names in LACKED.items() for name in names},
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
    ("group_ops", "internal_hash_to", 1): "hashes an empty message, too",
    ("transfer", "share_object_impl", 0): "shares what is neither new nor shared",
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
        return "takes no references from other modules"
    return WHEELS_OWN.get(native)
