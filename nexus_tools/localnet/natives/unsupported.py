"""Natives that the framework declares and the localnet does not have.

Calling one ends the transaction with `FEATURE_NOT_YET_SUPPORTED`.
"""

from nexus_tools.localnet.natives.errors import UnsupportedNative
from nexus_tools.localnet.natives.table import NativeTable
from nexus_tools.localnet.vm import Context, Native, Value
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.type_tag import TypeTag

_FUNCTIONS: dict[bytes, dict[str, tuple[str, ...]]] = {
    SUI_FRAMEWORK: {
        "bls12381": ("bls12381_min_sig_verify", "bls12381_min_pk_verify"),
        "groth16": ("prepare_verifying_key_internal", "verify_groth16_proof_internal"),
        "group_ops": (
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
        ),
    },
}


def _refusing(module: str, function: str) -> Native:
    def native(_context: Context, _types: tuple[TypeTag, ...], *_arguments: Value) -> None:
        raise UnsupportedNative(f"{module}::{function}")

    return native


NATIVES: NativeTable = {
    (package, module, function): _refusing(module, function)
    for package, modules in _FUNCTIONS.items()
    for module, functions in modules.items()
    for function in functions
}
