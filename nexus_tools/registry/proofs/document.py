"""The document that proves a paid call: its fields, and their JSON.

The readable part of a document is `call`. All other parts are the bytes on chain from which
`evidence` computes the same values.
"""

import json
from typing import Annotated, Any, Self

from msgspec import Meta, Struct, convert, to_builtins
from msgspec import ValidationError as MsgspecError

from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.sui.client import CheckpointRecord, TransactionRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.tool import parse_json

FORMAT = "nexus-tools.paid-call"
VERSION = 1

MAX_PROOF_BYTES = 16 * 1024 * 1024
"""The maximum size of a document. The contents of a large checkpoint have about 3 MB in base64."""

# The protocol limits a transaction to 128 KiB, its effects to 512 KiB, and an object to 250 KiB
# without its type and owner. Decoding a larger value would take minutes.
_Transaction = Annotated[bytes, Meta(max_length=128 * 1024)]
_EffectsOrObject = Annotated[bytes, Meta(max_length=512 * 1024)]


class AnswerSignature(Struct, frozen=True, forbid_unknown_fields=True):
    """The tool's Ed25519 signature of an answer and its public key, `ed25519:` and 64 digits."""

    key: str
    signature: bytes


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A settled call. Amounts are in MIST, and times in ms since 1970.

    `inputs` is None if the call belongs to `execution`, because such an invocation refers to its
    inputs. `leader` settled the call, or is an account if anyone could settle it. `settlement` is
    the proof that the chain required of the answer. The values are `leader` (no proof),
    `signature` (of the tool), `call` (of the tool's Move function) and `anyone` (such a call, which
    any account may send).
    """

    tool: Address
    fqn: str
    requester: Address
    execution: Address | None
    inputs: dict[str, Any] | None
    leaders: tuple[Address, ...]
    requested_at_ms: int
    requested_in: Digest
    payment_mist: int
    variant: str
    ports: dict[str, Any]
    settlement: str
    signature: AnswerSignature | None
    leader: Address
    settled_at_ms: int
    settled_in: Digest
    price_mist: int
    payout: Address
    fee_mist: int
    refund_mist: int


class TransactionEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """A transaction as BCS bytes, its signatures, and the sequence number of its checkpoint.

    `invocation` is the object of the invocation after the transaction.
    """

    transaction: _Transaction
    signatures: Annotated[tuple[bytes, ...], Meta(max_length=2)]
    effects: _EffectsOrObject
    events: bytes
    invocation: _EffectsOrObject
    checkpoint: int

    def record(self) -> TransactionRecord:
        """Return the part that a node returns for the transaction."""
        return TransactionRecord(
            self.transaction, self.signatures, self.effects, self.events, self.checkpoint
        )


class Statements(Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of each part of a document, and its limits, as sentences."""

    proves: dict[str, str]
    does_not_prove: tuple[str, ...]


class ProofDocument(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A proof of a paid call. `package` is the first version of the package of tools."""

    format: str = FORMAT
    version: int = VERSION
    chain_id: str
    package: Address
    invocation: Address
    call: Call
    statements: Statements
    request: TransactionEvidence
    closing: TransactionEvidence
    checkpoints: Annotated[tuple[CheckpointRecord, ...], Meta(min_length=1, max_length=2)]

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Parse an untrusted document. Raises `proof_malformed`."""
        if len(text) > MAX_PROOF_BYTES:
            raise malformed_error(
                f"the document has {len(text)} bytes, expected at most {MAX_PROOF_BYTES}"
            )
        try:
            document = parse_json(text)
            _check_format(document)
            return convert(document, cls, dec_hook=_parse_id)
        except (MsgspecError, ValidationError) as error:
            raise malformed_error(str(error)) from None

    def as_json(self) -> dict[str, Any]:
        """Return the document as JSON: bytes in base64, IDs and digests as text."""
        document: dict[str, Any] = to_builtins(self, enc_hook=str)
        return document

    def text(self) -> str:
        """Return the document as indented JSON text with escapes instead of special characters."""
        return json.dumps(self.as_json(), indent=2) + "\n"


def malformed_error(reason: str) -> NexusError:
    """Return the error for a document that is not a proof of this format."""
    return ValidationError(
        "proof_malformed",
        f"the document is not a proof of a paid call: {reason[:300]}",
        hint="Ask for the output of `nexus-tools proof show INVOCATION --json`.",
    )


def _check_format(document: object) -> None:
    """Report another format or version first, because other fields may differ with them."""
    if not isinstance(document, dict):
        raise ValidationError("proof_malformed", "expected a JSON object")
    found = document.get("format"), document.get("version")
    if found != (FORMAT, VERSION) or isinstance(found[1], bool):
        expected = f"expected the format {FORMAT} in version {VERSION}"
        raise ValidationError("proof_malformed", f"{expected}, got {str(found)[:80]}")


def _parse_id(kind: type, text: object) -> Address | Digest:
    if not isinstance(text, str):
        raise TypeError("expected a string")  # `convert` adds the field's name
    return Address.parse_whole(text) if kind is Address else Digest.parse(text)
