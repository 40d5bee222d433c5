"""The call that the bytes of two transactions show, and the checks that need no node.

The chain links all data by digests. A checkpoint's summary contains the digest of its contents. The
contents contain the digests of transactions and effects. Effects contain the digests of events and
objects. So the bytes in a document are the bytes on chain if a node confirms the summary.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.contracts import Deployment, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import ValidationError
from nexus_tools.registry.proofs.document import (
    AnswerSignature,
    Call,
    TransactionEvidence,
)
from nexus_tools.sui.bcs import BcsError, byte_vector, string
from nexus_tools.sui.client import CheckpointRecord
from nexus_tools.sui.signature import check_signatures, verify_ed25519
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.checkpoint import (
    ANY_CHECKPOINT_CONTENTS,
    CHECKPOINT_SUMMARY,
    CheckpointContents,
    CheckpointSummary,
)
from nexus_tools.sui.types.digest import (
    Digest,
    blake2b256,
    checkpoint_contents_digest,
    effects_digest,
    events_digest,
    object_digest,
    transaction_digest,
)
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS, ObjectWrite, TransactionEffects
from nexus_tools.sui.types.event import EVENTS, Event
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import OBJECT, Object
from nexus_tools.sui.types.transaction import (
    TRANSACTION_DATA,
    InputArgument,
    MoveCall,
    ProgrammableTransaction,
    Pure,
    SharedObject,
    TransactionData,
)
from nexus_tools.tool import format_public_key

T = TypeVar("T")

_OUTCOME_DOMAIN = b"nexus_tools::outcome"  # signed_outcome::DOMAIN
_SETTLE_SIGNED, _SIGNED_ARGUMENTS = ("signed_outcome", "settle"), 7


class DecodedTransaction(Struct, frozen=True):
    """The evidence of a transaction, and its decoded parts."""

    evidence: TransactionEvidence
    digest: Digest
    data: TransactionData
    effects: TransactionEffects
    events: tuple[Event, ...]
    object: Object


def decode_transaction(evidence: TransactionEvidence) -> DecodedTransaction:
    """Decode the bytes of a transaction. Raises `bcs_invalid`."""
    return DecodedTransaction(
        evidence,
        transaction_digest(evidence.transaction),
        TRANSACTION_DATA.decode(evidence.transaction),
        TRANSACTION_EFFECTS.decode(evidence.effects),
        EVENTS.decode(evidence.events) if evidence.events else (),
        OBJECT.decode(evidence.invocation),
    )


# --- Checks of one transaction


def check_signers(transaction: DecodedTransaction) -> str:
    """Check the signatures of a transaction, and return its sender.

    Raises `signature_malformed` or `signature_invalid`. The latter includes every zkLogin
    signature, which only validators can verify.
    """
    signed = transaction.evidence
    check_signatures(transaction.data, signed.transaction, signed.signatures)
    return f"signed by {transaction.data.sender}"


def check_effects(transaction: DecodedTransaction) -> str:
    """Check that effects and events belong to the successful transaction."""
    effects, events = transaction.effects, transaction.evidence.events
    _require(
        effects.transaction_digest == transaction.digest,
        "the effects belong to another transaction",
    )
    _require(isinstance(effects.status, Success), "the transaction failed")
    expected = events_digest(events) if events else None
    _require(effects.events_digest == expected, "the events are not the events of the effects")
    return f"the transaction {transaction.digest} succeeded"


def check_object(transaction: DecodedTransaction, invocation: Address) -> str:
    """Check that the object is the invocation as the transaction wrote it."""
    written = dict(transaction.effects.changed_objects).get(invocation)
    _require(transaction.object.id == invocation, "the object is not the invocation")
    _require(
        written is not None
        and isinstance(written.output, ObjectWrite)
        and written.output.digest == object_digest(transaction.evidence.invocation),
        "the transaction did not write this object",
    )
    return f"version {transaction.object.version}"


def check_checkpoint(
    transaction: DecodedTransaction, checkpoints: Iterable[CheckpointRecord]
) -> str:
    """Check that the transaction is in its checkpoint, with its effects and its signatures."""
    number = transaction.evidence.checkpoint
    decoded = [(decode_summary(checkpoint), checkpoint) for checkpoint in checkpoints]
    found = [(summary, item) for summary, item in decoded if summary.sequence_number == number]
    _require(len(found) == 1, f"expected the checkpoint {number} once, got it {len(found)} times")
    [(summary, checkpoint)] = found
    _require(
        summary.content_digest == checkpoint_contents_digest(checkpoint.contents),
        "the contents are not the contents of the summary",
    )
    expected = (transaction.digest, effects_digest(transaction.evidence.effects))
    signatures = _contained(checkpoint).get(expected)
    _require(signatures is not None, "the checkpoint does not contain the transaction")
    _require(
        signatures == transaction.evidence.signatures, "the checkpoint contains other signatures"
    )
    return f"in checkpoint {number}"


def decode_summary(checkpoint: CheckpointRecord) -> CheckpointSummary:
    """Decode the summary of a checkpoint. Raises `bcs_invalid`."""
    return CHECKPOINT_SUMMARY.decode(checkpoint.summary)


def _contained(
    checkpoint: CheckpointRecord,
) -> dict[tuple[Digest, Digest], tuple[bytes, ...]]:
    """Return the signatures of each transaction, by the digests of transaction and effects."""
    contents = ANY_CHECKPOINT_CONTENTS.decode(checkpoint.contents)
    if isinstance(contents, CheckpointContents):
        _require(
            len(contents.transactions) == len(contents.signatures),
            "the contents have signatures of other transactions",
        )
        return dict(zip(contents.transactions, contents.signatures, strict=True))
    return {
        item.digests: tuple(signature for signature, _ in item.signatures)
        for item in contents.transactions
    }


# --- The call


def read_call(
    deployment: Deployment,
    invocation: Address,
    request: DecodedTransaction,
    closing: DecodedTransaction,
) -> Call:
    """Return the call that two transactions show. Raises `proof_mismatch`, or `json_invalid`."""
    requested = _event(deployment, request, InvocationRequested, invocation)
    settled = _event(deployment, closing, InvocationSettled, invocation)
    before = deployment.decode(request.object, Invocation)
    after = deployment.decode(closing.object, Invocation)
    _check_terms(before, after, requested, settled)
    assert isinstance(after.state, State.Settled)
    attempt = before.attempt
    if attempt is None:
        sender = request.data.sender
        _require(sender == before.requester, "the requester did not send the request")
    return Call(
        tool=before.tool,
        fqn=before.fqn,
        requester=before.requester,
        execution=None if attempt is None else attempt.execution,
        inputs=before.inputs.with_locations() if attempt is None else None,
        leaders=before.leaders,
        requested_at_ms=before.requested_at_ms,
        requested_in=request.digest,
        payment_mist=before.payment_mist,
        variant=after.state.variant,
        ports=after.state.ports.with_locations(),
        settlement=_settlement(before),
        signature=_answer_signature(closing, after),
        leader=after.state.leader,
        settled_at_ms=after.state.settled_at_ms,
        settled_in=closing.digest,
        price_mist=settled.price_mist,
        payout=settled.payout,
        fee_mist=settled.fee_mist,
        refund_mist=settled.refund_mist,
    )


def check_answer_signature(
    deployment: Deployment, request: DecodedTransaction, closing: DecodedTransaction
) -> str | None:
    """Check the tool's signature of the answer, or return None if the settlement needs none.

    The result is also None for a call of an execution, because its invocation has no inputs.
    """
    before = deployment.decode(request.object, Invocation)
    if not before.signers or before.attempt is not None:
        return None
    found = _answer_signature(closing, deployment.decode(closing.object, Invocation))
    if found is None:
        raise ValidationError("proof_mismatch", "the tool did not sign this answer to these inputs")
    return f"signed with {found.key}"


def _check_terms(
    before: Invocation,
    after: Invocation,
    requested: InvocationRequested,
    settled: InvocationSettled,
) -> None:
    """Check that events and objects describe the same call."""
    _require(isinstance(before.state, State.Requested), "the request created a closed invocation")
    _require(isinstance(after.state, State.Settled), "the invocation is not settled")
    assert isinstance(after.state, State.Settled)
    unchanged = replace(after, payment=before.payment, state=before.state)
    _require(unchanged == before, "the terms differ between request and settlement")
    named = (before.id, before.tool, before.fqn, before.requester)
    terms = (before.leaders, before.requested_at_ms, before.price_mist, before.payment)
    _require(
        _names(requested) == named
        and terms
        == (
            requested.leaders,
            requested.requested_at_ms,
            requested.price_mist,
            requested.payment_mist,
        ),
        "the event of the request differs from the invocation",
    )
    state = after.state
    closed = (state.variant, state.leader, state.settled_at_ms, before.price_mist, before.payout)
    _require(
        _names(settled) == named
        and closed
        == (
            settled.variant,
            settled.leader,
            settled.settled_at_ms,
            settled.price_mist,
            settled.payout,
        ),
        "the event of the settlement differs from the invocation",
    )
    paid = settled.price_mist + settled.fee_mist + settled.refund_mist
    _require(paid == before.payment, "price, fee and refund are not the prepaid amount")


def _names(event: InvocationRequested | InvocationSettled) -> tuple[Address, Address, str, Address]:
    return event.invocation, event.tool, event.fqn, event.requester


def _event(
    deployment: Deployment, transaction: DecodedTransaction, kind: type[T], invocation: Address
) -> T:
    """Return the event of a kind for an invocation, which a transaction emits once."""
    parsed = [parse_event(deployment, event) for event in transaction.events]
    found = [
        event
        for event in parsed
        if isinstance(event, kind) and getattr(event, "invocation", None) == invocation
    ]
    _require(
        len(found) == 1,
        f"expected one event {kind.__name__} of the invocation, got {len(found)}",
    )
    return found[0]


def _settlement(invocation: Invocation) -> str:
    match invocation.settlement:
        case Settlement.Signature():
            return "signature"
        case Settlement.Call(closable_by_anyone):
            return "anyone" if closable_by_anyone else "call"
        case _:
            return "leader"


def _answer_signature(
    closing: DecodedTransaction, invocation: Invocation
) -> AnswerSignature | None:
    """Return the tool's signature in the transaction that settled an invocation, or None.

    The result is None if the chain required no signature, and for a call of an execution. Only a
    signature by a key that the tool had at the request counts, because the transaction may also
    call other functions.
    """
    state = invocation.state
    if not isinstance(state, State.Settled) or invocation.attempt is not None:
        return None
    message = b"".join(
        (
            _OUTCOME_DOMAIN,
            invocation.id,
            blake2b256(Ports.bcs.encode(invocation.inputs)),
            string.encode(state.variant),
            blake2b256(Ports.bcs.encode(state.ports)),
        )
    )
    for key, signature in _signature_arguments(closing, invocation.id):
        if key in invocation.signers and verify_ed25519(key, signature, message):
            return AnswerSignature(format_public_key(key), signature)
    return None


def _signature_arguments(
    closing: DecodedTransaction, invocation: Address
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and signatures in the calls that may settle an invocation."""
    kind = closing.data.kind
    if not isinstance(kind, ProgrammableTransaction):
        return
    for command in kind.commands:
        if not isinstance(command, MoveCall) or len(command.arguments) < _SIGNED_ARGUMENTS:
            continue
        inputs = [
            kind.inputs[argument.index]
            if isinstance(argument, InputArgument) and argument.index < len(kind.inputs)
            else None
            for argument in command.arguments
        ]
        settled, key, signature = inputs[0], inputs[4], inputs[5]
        if (
            (command.module, command.function) == _SETTLE_SIGNED
            and isinstance(settled, SharedObject)
            and settled.object_id == invocation
            and isinstance(key, Pure)
            and isinstance(signature, Pure)
        ):
            with suppress(BcsError):
                yield byte_vector.decode(key.value), byte_vector.decode(signature.value)


def _require(condition: bool, problem: str) -> None:
    """Raise `proof_mismatch` with the problem unless the condition holds."""
    if not condition:
        raise ValidationError("proof_mismatch", problem)
