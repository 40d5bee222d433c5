"""The tool's signature of an answer, which the chain verifies when the invocation is settled.

The signature of a response is for the Leader that reads it. This signature is passed on: with it
the chain trusts that the answer is the tool's, whichever leader settles. It also covers the inputs,
so a leader that sent other inputs than the invocation's cannot settle with the answer.

The tool gets the inputs as JSON, and signs them as `encode_ports` encodes them. A requester can
encode them differently on chain; a Leader does not call a tool for such inputs.
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

    It consists of `nexus_tools::outcome`, the 32 bytes of the invocation's ID, the BLAKE2b-256
    digest of the inputs in BCS, the variant in BCS, and the digest of the ports. Raises as
    `encode_ports`.
    """
    input_digest, port_digest = (_digest(encode_ports(ports)) for ports in (inputs, answer.ports))
    return _DOMAIN + invocation + input_digest + encode_string(answer.variant) + port_digest


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


def outcome_header(
    identity: Identity, status: int, body: bytes, request: Mapping[str, str], *, asked: bytes
) -> dict[str, str]:
    """Return the header that signs the answer in a response, or nothing without an answer.

    A problem, or a request whose invocation is not a Sui ID, has no answer on chain.
    `asked` is the body of the request.
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
    """Parse the answer from the sent bytes, because a number in memory may differ from it.

    Raises `json_invalid` if the body is not an answer.
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

    `asked` is the body of the request. Both mappings have header names in lower case. Raises
    `MalformedError`.
    """
    field = headers.get(_HEADER)
    if not field:
        raise MalformedError("the answer is not signed for the chain")
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
