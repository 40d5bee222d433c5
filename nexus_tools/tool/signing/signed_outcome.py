"""The tool's signature of an answer to an invocation, which the chain verifies when it is settled.

A response's signature ends with the Leader, who reads the response; this one goes on: with it the
chain believes that the answer is the tool's, whoever the leader is. It says for which inputs, too:
a leader that sends others than the invocation's gets an honest answer, and cannot settle with it.

The tool has the inputs as JSON, and signs them as `encoded_ports` writes them. Who requests can
write them on chain in other ways: a Leader does not call a tool for those.
"""

import re
from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool import protocol
from nexus_tools.tool.outcome import Answer, OutcomeSignature
from nexus_tools.tool.ports import encoded_ports, encoded_text
from nexus_tools.tool.signing.http_signatures import MalformedError, read_bytes_item, written_bytes
from nexus_tools.tool.signing.signing_key import Identity, parse_key_id, verifies
from nexus_tools.tool.strict_json import parse_json

_HEADER = protocol.OUTCOME_SIGNATURE_HEADER.lower()
_INVOCATION = protocol.INVOCATION_HEADER.lower()
_DOMAIN = b"nexus_tools::outcome"
_ID = re.compile(r"0x([0-9a-f]{64})")
_OK = 200


def outcome_message(invocation: bytes, inputs: Mapping[str, Any], answer: Answer) -> bytes:
    """What is signed, as the Move function `invocation::signed_outcome` has it.

    `nexus_tools::outcome`, the 32 bytes of the invocation's id, the BLAKE2b-256 digest of the
    inputs in BCS, the variant in BCS, and that digest of the ports. Raises as `encoded_ports`.
    """
    asked, given = (_digest(encoded_ports(ports)) for ports in (inputs, answer.ports))
    return _DOMAIN + invocation + asked + encoded_text(answer.variant) + given


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


def outcome_header(
    identity: Identity, status: int, body: bytes, request: Mapping[str, str], *, asked: bytes
) -> dict[str, str]:
    """The header that signs the answer in a response; none for what is no answer on chain.

    That is a problem, or a request whose invocation is no id of Sui. `asked` is the body of the
    request.
    """
    invocation = _ID.fullmatch(request.get(_INVOCATION, ""))
    if status != _OK or invocation is None:
        return {}
    try:
        message = outcome_message(bytes.fromhex(invocation[1]), _object(asked), _answer(body))
    except ValidationError:
        return {}
    signature = written_bytes(identity.key.private.sign(message))
    return {_HEADER: f'{signature};keyid="{identity.key_id}"'}


def _answer(body: bytes) -> Answer:
    """The answer in the bytes that are sent: in a tool's memory a number may be another one.

    Raises `json_invalid` for what is none.
    """
    document = _object(body)
    if len(document) == 1:
        ((variant, ports),) = document.items()
        if isinstance(ports, dict):
            return Answer(variant, ports)
    raise ValidationError("json_invalid", "it is no variant with its ports")


def _object(body: bytes) -> dict[str, Any]:
    document = parse_json(body)
    if isinstance(document, dict):
        return document
    raise ValidationError("json_invalid", "it is no JSON object")


def read_outcome_signature(
    answer: Answer,
    headers: Mapping[str, str],
    request: Mapping[str, str],
    keys: Collection[bytes],
    *,
    asked: bytes,
) -> OutcomeSignature:
    """The signature that a response has of its answer, verified to be that of one of `keys`.

    `asked` is the body of the request. Both have the names of headers in lower case. Raises
    `MalformedError`.
    """
    field = headers.get(_HEADER)
    if not field:
        raise MalformedError("the answer is not signed for the chain")
    signature, parameters = read_bytes_item(field)
    found = parse_key_id(str(parameters.get("keyid", "")))
    invocation = _ID.fullmatch(request[_INVOCATION])
    if found is None or invocation is None:
        raise MalformedError(f"{protocol.OUTCOME_SIGNATURE_HEADER} names no key or no invocation")
    signer, key = found
    if signer != request[protocol.TOOL_HEADER.lower()] or key not in keys:
        raise MalformedError("the outcome is signed with a key that the tool does not have")
    message = outcome_message(bytes.fromhex(invocation[1]), _object(asked), answer)
    if not verifies(key, signature, message):
        raise MalformedError("the signature of the outcome is not that of this answer")
    return OutcomeSignature(key, signature)
