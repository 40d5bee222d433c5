"""The tool's signature of an answer, which the chain verifies when the invocation is settled.

The signature of a response is verified by the Leader that reads the response. The signature of the
answer is verified on chain. The signature of the answer proves that the tool gave the answer,
whichever leader settles the invocation, and also covers the inputs. If a leader sent other inputs
to the tool than the inputs of the invocation, the leader cannot settle with the answer.

The tool receives the inputs as JSON, and signs the encoding of `encode_ports`. If the inputs on
chain are encoded differently, the Leader does not call the tool.
"""

import re
from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool import protocol
from nexus_tools.tool.outcome import Answer, OutcomeSignature
from nexus_tools.tool.ports import encode_ports, encode_string
from nexus_tools.tool.signing.http_signatures import (
    MalformedError,
    format_bytes_item,
    read_bytes_item,
)
from nexus_tools.tool.signing.signing_key import Identity, parse_key_id, verifies
from nexus_tools.tool.strict_json import parse_json

_HEADER = protocol.OUTCOME_SIGNATURE_HEADER.lower()
_INVOCATION = protocol.INVOCATION_HEADER.lower()
_DOMAIN = b"nexus_tools::outcome"
_ID = re.compile(r"0x([0-9a-f]{64})")
_OK = 200


def outcome_message(invocation: bytes, inputs: Mapping[str, Any], answer: Answer) -> bytes:
    """Return the signed message, as the Move function `invocation::signed_outcome` defines it.

    The message consists of `nexus_tools::outcome`, the 32 bytes of the invocation's ID, the digest
    of the inputs, the variant in BCS, and the digest of the ports. The digests are BLAKE2b-256 of
    the BCS encodings. Raises the errors of `encode_ports`.
    """
    input_digest, port_digest = _digest(encode_ports(inputs)), _digest(encode_ports(answer.ports))
    return _DOMAIN + invocation + input_digest + encode_string(answer.variant) + port_digest


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


def outcome_header(
    identity: Identity, status: int, body: bytes, request: Mapping[str, str], *, asked: bytes
) -> dict[str, str]:
    """Return the header that signs the answer in a response, or no header without an answer.

    A problem document is not an answer. If the invocation is not a Sui ID, its answer is not
    settled on chain and gets no header. `asked` is the body of the request.
    """
    invocation = _ID.fullmatch(request.get(_INVOCATION, ""))
    if status != _OK or invocation is None:
        return {}
    try:
        message = outcome_message(bytes.fromhex(invocation[1]), _object(asked), _answer(body))
    except ValidationError:
        return {}
    signature = format_bytes_item(identity.key.private.sign(message))
    return {_HEADER: f'{signature};keyid="{identity.key_id}"'}


def _answer(body: bytes) -> Answer:
    """Parse the answer from the body of a response.

    A number may lose precision in JSON, so the signature covers the sent value and not the value in
    memory. Raises `json_invalid` if the body is not an answer.
    """
    document = _object(body)
    if len(document) == 1:
        ((variant, ports),) = document.items()
        if isinstance(ports, dict):
            return Answer(variant, ports)
    raise ValidationError("json_invalid", "expected a variant with its ports")


def _object(body: bytes) -> dict[str, Any]:
    document = parse_json(body)
    if isinstance(document, dict):
        return document
    raise ValidationError("json_invalid", "expected a JSON object")


def read_outcome_signature(
    answer: Answer,
    headers: Mapping[str, str],
    request: Mapping[str, str],
    keys: Collection[bytes],
    *,
    asked: bytes,
) -> OutcomeSignature:
    """Return the signature of the answer in a response after verifying it with `keys`.

    `headers` belong to the response and `request` to the request, with names in lower case. `asked`
    is the body of the request. Raises `MalformedError`.
    """
    field = headers.get(_HEADER)
    if not field:
        raise MalformedError(f"the header {protocol.OUTCOME_SIGNATURE_HEADER} is missing")
    signature, parameters = read_bytes_item(field)
    key_id = parse_key_id(str(parameters.get("keyid", "")))
    invocation = _ID.fullmatch(request[_INVOCATION])
    if key_id is None or invocation is None:
        raise MalformedError(f"{protocol.OUTCOME_SIGNATURE_HEADER} lacks a valid key or invocation")
    signer, key = key_id
    if signer != request[protocol.TOOL_HEADER.lower()] or key not in keys:
        raise MalformedError("the outcome is signed with a key that the tool does not have")
    message = outcome_message(bytes.fromhex(invocation[1]), _object(asked), answer)
    if not verifies(key, signature, message):
        raise MalformedError("the signature of the outcome does not match this answer")
    return OutcomeSignature(key, signature)
