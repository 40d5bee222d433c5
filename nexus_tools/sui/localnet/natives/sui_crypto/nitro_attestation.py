"""The native functions of `sui::nitro_attestation`, for attestations of AWS Nitro enclaves."""

from typing import TYPE_CHECKING

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.crypto.nitro_document import Document

_PARSE_ERROR, _VERIFY_ERROR = 1, 2
_COST_PARSE, _COST_PARSE_PER_BYTE = 2_650, 50
_COST_VERIFY, _COST_VERIFY_PER_CERTIFICATE = 2_481_600, 2_618_450


def load_nitro_attestation_internal(
    context: Context, _types: tuple[TypeTag, ...], attestation: Reference, now_ms: int
) -> Value:
    """Verify an attestation and return its document as a `NitroAttestationDocument`.

    Abort if the attestation is malformed, not genuine, or not valid at this time.
    """
    from nexus_tools.sui.localnet.crypto.nitro_certificates import (  # noqa: PLC0415 - seldom used
        is_genuine,
    )
    from nexus_tools.sui.localnet.crypto.nitro_document import Attestation  # noqa: PLC0415

    data = bytes(attestation.read())
    charge(context, _COST_PARSE, _COST_PARSE_PER_BYTE, len(data))
    try:
        parsed_attestation = Attestation.parse(data)
    except ValueError:
        raise NativeAbort(_PARSE_ERROR) from None
    issuer_count = len(parsed_attestation.document.chain)
    charge(context, _COST_VERIFY, _COST_VERIFY_PER_CERTIFICATE, issuer_count)
    if not is_genuine(parsed_attestation, now_ms):
        raise NativeAbort(_VERIFY_ERROR)
    return _as_move_value(parsed_attestation.document)


def _as_move_value(document: "Document") -> Value:
    return [
        bytearray(document.module_id.encode()),
        document.timestamp,
        bytearray(document.digest.encode()),
        [[index, bytearray(register)] for index, register in document.registers.items()],
        *map(_option, (document.public_key, document.user_data, document.nonce)),
    ]


def _option(data: bytes | None) -> Value:
    return [[] if data is None else [bytearray(data)]]


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "nitro_attestation",
    load_nitro_attestation_internal=load_nitro_attestation_internal,
)
