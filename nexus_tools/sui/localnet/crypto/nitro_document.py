"""Attestations of AWS Nitro enclaves, which are signed descriptions of an enclave.

Source: `nitro_attestation.rs` of `sui-types`. An attestation is a COSE_Sign1 structure (RFC 9052).
https://docs.aws.amazon.com/enclaves/latest/user/verify-root.html describes the signed document.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.cbor import (
    Map,
    Tagged,
    decode_cbor,
    encode_bytes,
    encode_text,
)

_DIGEST = "SHA384"
_COSE_SIGN1 = 18
_ALGORITHM, _ECDSA_SHA384 = 1, -35
_ARRAY_OF_FOUR = b"\x84"
_PARTS = 4
_SIGNATURE_LENGTH = 96
_MAX_PAYLOAD = 16_383
_MAX_CERTIFICATE = _MAX_PUBLIC_KEY = 1_024
_MAX_DATA = 512
_MAX_CHAIN = 10
_MAX_REGISTERS, _MAX_INDEX = 32, 31
_REGISTER_LENGTHS = (32, 48, 64)
_ALWAYS_SHOWN = frozenset({0, 1, 2, 3, 4, 8})

T = TypeVar("T")


class MalformedAttestation(ValueError):  # noqa: N818 - the name states the cause
    """Bytes that are not a valid attestation."""


class Document(Struct, frozen=True):
    """The description of an enclave. `registers` has hashes of the enclave. `timestamp` is in ms.

    `certificate` is the certificate of the signing key. `chain` has the certificates from the root
    to the issuer of `certificate`. All certificates are in DER.
    """

    module_id: str
    timestamp: int
    digest: str
    registers: Mapping[int, bytes]
    certificate: bytes
    chain: tuple[bytes, ...]
    public_key: bytes | None
    user_data: bytes | None
    nonce: bytes | None


class Attestation(Struct, frozen=True):
    """A document, the signed bytes, and the signature.

    The signature is r || s with 48 bytes each.
    """

    document: Document
    signed: bytes
    signature: bytes

    @classmethod
    def parse(cls, data: bytes) -> "Attestation":
        """Parse a COSE_Sign1 structure. Raises `MalformedAttestation` or `MalformedCbor`."""
        value = decode_cbor(data)
        if isinstance(value, Tagged) and value.tag == _COSE_SIGN1:
            value = value.value
        parts = _of_type(value, list)
        _check(len(parts) >= _PARTS)
        protected, payload, signature = (_of_type(parts[index], bytes) for index in (0, 2, 3))
        _check_header(protected)
        _check_distinct(_of_type(_untagged(parts[1]), Map))
        _check(len(signature) == _SIGNATURE_LENGTH and 1 <= len(payload) <= _MAX_PAYLOAD)
        signed_parts = (encode_text("Signature1"), *map(encode_bytes, (protected, b"", payload)))
        return cls(_parse_document(payload), _ARRAY_OF_FOUR + b"".join(signed_parts), signature)


def _check_header(protected: bytes) -> None:
    pairs = _of_type(decode_cbor(protected), Map).pairs
    _check(len(pairs) == 1)
    _check(tuple(_of_type(number, int) for number in pairs[0]) == (_ALGORITHM, _ECDSA_SHA384))


def _check_distinct(header: Map) -> None:
    keys = [(type(key), key) for key, _ in header.pairs]
    _check(not any(key in keys[:index] for index, key in enumerate(keys)))


def _parse_document(payload: bytes) -> Document:
    pairs = _of_type(decode_cbor(payload), Map).pairs
    fields = {_of_type(key, str): value for key, value in pairs}
    _check(len(fields) == len(pairs))
    module_id = _of_type(fields.get("module_id"), str)
    timestamp = _of_type(fields.get("timestamp"), int)
    _check(bool(module_id) and fields.get("digest") == _DIGEST and 0 <= timestamp < 2**64)
    chain = _of_type(fields.get("cabundle"), list)
    _check(1 <= len(chain) <= _MAX_CHAIN)
    return Document(
        module_id=module_id,
        timestamp=timestamp,
        digest=_DIGEST,
        registers=_parse_registers(_of_type(fields.get("pcrs"), Map)),
        certificate=_certificate(fields.get("certificate")),
        chain=tuple(map(_certificate, chain)),
        public_key=_optional(fields.get("public_key"), _MAX_PUBLIC_KEY),
        user_data=_optional(fields.get("user_data"), _MAX_DATA),
        nonce=_optional(fields.get("nonce"), _MAX_DATA),
    )


def _parse_registers(register_map: Map) -> dict[int, bytes]:
    """Return the registers sorted by index, without zero registers that AWS does not define."""
    _check(len(register_map.pairs) <= _MAX_REGISTERS)
    registers: dict[int, bytes] = {}
    for key, value in register_map.pairs:
        index, register = _of_type(key, int), _of_type(value, bytes)
        _check(0 <= index < 2**8 and len(register) in _REGISTER_LENGTHS and index not in registers)
        if index in _ALWAYS_SHOWN or (index <= _MAX_INDEX and any(register)):
            registers[index] = register
    return dict(sorted(registers.items()))


def _certificate(value: Any) -> bytes:
    data = _of_type(value, bytes)
    _check(1 <= len(data) <= _MAX_CERTIFICATE)
    return data


def _optional(value: Any, limit: int) -> bytes | None:
    """Return bytes, or None for any other value."""
    if not isinstance(value, bytes):
        return None
    _check(len(value) <= limit)
    return value


def _untagged(value: Any) -> Any:
    while isinstance(value, Tagged):
        value = value.value
    return value


def _of_type(value: Any, expected: type[T]) -> T:
    if type(value) is not expected:
        raise MalformedAttestation
    return value


def _check(condition: bool) -> None:
    if not condition:
        raise MalformedAttestation
