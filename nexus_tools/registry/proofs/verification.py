"""The verification of a proof: what its bytes show, and what the user's node confirms.

The document is untrusted. The verification trusts only the node and the deployment of the user.
"""

import asyncio
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from typing import NoReturn

from msgspec import Struct, to_builtins

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.registry.proofs.document import ProofDocument, TransactionEvidence
from nexus_tools.registry.proofs.evidence import (
    DecodedTransaction,
    check_answer_signature,
    check_checkpoint,
    check_effects,
    check_object,
    check_signers,
    decode_summary,
    decode_transaction,
    read_call,
)
from nexus_tools.registry.proofs.statements import statements_of
from nexus_tools.sui.client import (
    CheckpointRecord,
    SuiClient,
    TransactionRecord,
    read_checkpoint_record,
    read_transaction_record,
)
from nexus_tools.sui.types.digest import transaction_digest
from nexus_tools.tool import canonical_json


class CheckState(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    """The call does not have the part that the check is about."""


class ProofCheck(Struct, frozen=True):
    """A check of a proof, its result, and a detail in words."""

    name: str
    state: CheckState
    detail: str


class ProofVerification(Struct, frozen=True):
    """The checks of a proof."""

    checks: tuple[ProofCheck, ...]

    @property
    def failed(self) -> tuple[ProofCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.state is CheckState.FAILED)

    @property
    def is_valid(self) -> bool:
        """Whether the call took place as the document says."""
        return not self.failed


class _NodeRecords(Struct, frozen=True):
    """The chain of a node, and its records of the document's transactions and checkpoints."""

    chain_id: str
    request: TransactionRecord | None
    closing: TransactionRecord | None
    checkpoints: tuple[CheckpointRecord | None, ...]


async def verify_proof(
    client: SuiClient, deployment: Deployment, document: ProofDocument
) -> ProofVerification:
    """Check a proof against a node that the user trusts, and against the user's deployment.

    The node must have the two transactions and their checkpoints. A failed check is a result, not
    an error. Raises `UnreachableError` if the node does not respond.
    """
    records = await _read_records(client, document)
    checks = _checks(deployment, document, records)
    return ProofVerification(tuple(_run(name, check) for name, check in checks))


async def _read_records(client: SuiClient, document: ProofDocument) -> _NodeRecords:
    parts = (document.request, document.closing)
    request, closing = await asyncio.gather(
        *(read_transaction_record(client, transaction_digest(part.transaction)) for part in parts)
    )
    checkpoints = await asyncio.gather(
        *(_read_checkpoint(client, checkpoint) for checkpoint in document.checkpoints)
    )
    return _NodeRecords(await client.chain_id(), request, closing, tuple(checkpoints))


async def _read_checkpoint(
    client: SuiClient, checkpoint: CheckpointRecord
) -> CheckpointRecord | None:
    try:
        number = decode_summary(checkpoint).sequence_number
    except ValidationError:
        return None
    return await read_checkpoint_record(client, number)


# --- Checks

_Check = Callable[[], str | None]
"""A check returns a detail, or None if it is not applicable, and raises the problem."""


def _run(name: str, check: _Check) -> ProofCheck:
    try:
        detail = check()
    except NexusError as error:
        return ProofCheck(name, CheckState.FAILED, error.message)
    if detail is None:
        return ProofCheck(name, CheckState.NOT_APPLICABLE, "the call does not need it")
    return ProofCheck(name, CheckState.PASSED, detail)


def _checks(
    deployment: Deployment, document: ProofDocument, records: _NodeRecords
) -> Iterator[tuple[str, _Check]]:
    """Yield the names of the checks and the checks, which decode the document when they run."""
    request, closing = _decoded_once(document.request), _decoded_once(document.closing)
    yield "chain", lambda: _check_chain(deployment, document, records)
    yield "package", lambda: _check_package(deployment, document)
    yield from _transaction_checks("request", request, document, records.request)
    yield from _transaction_checks("closing", closing, document, records.closing)
    yield "checkpoints.node", lambda: _check_checkpoints(document, records)
    yield "call", lambda: _check_call(deployment, document, request(), closing())
    yield (
        "call.signature",
        lambda: check_answer_signature(deployment, request(), closing()),
    )
    yield "statements", lambda: _check_statements(document)


def _decoded_once(evidence: TransactionEvidence) -> Callable[[], DecodedTransaction]:
    """Return a function that decodes at its first call, and repeats the result or the error."""

    @cache
    def attempt() -> DecodedTransaction | NexusError:
        try:
            return decode_transaction(evidence)
        except NexusError as error:
            return error

    def result() -> DecodedTransaction:
        found = attempt()
        if isinstance(found, NexusError):
            raise found
        return found

    return result


def _transaction_checks(
    part: str,
    decoded: Callable[[], DecodedTransaction],
    document: ProofDocument,
    record: TransactionRecord | None,
) -> Iterator[tuple[str, _Check]]:
    """Yield the checks of one of the two transactions."""
    yield f"{part}.signatures", lambda: check_signers(decoded())
    yield f"{part}.effects", lambda: check_effects(decoded())
    yield f"{part}.invocation", lambda: check_object(decoded(), document.invocation)
    yield f"{part}.checkpoint", lambda: check_checkpoint(decoded(), document.checkpoints)
    yield f"{part}.node", lambda: _check_record(decoded(), record)


def _check_chain(deployment: Deployment, document: ProofDocument, records: _NodeRecords) -> str:
    if not document.chain_id == deployment.chain_id == records.chain_id:
        _fail(f"expected the chain {records.chain_id}, got {document.chain_id[:80]!r}")
    return f"chain {records.chain_id}"


def _check_package(deployment: Deployment, document: ProofDocument) -> str:
    if document.package != deployment.original_id:
        _fail(f"expected the package {deployment.original_id}, got {document.package}")
    return f"package {deployment.original_id}"


def _check_record(transaction: DecodedTransaction, record: TransactionRecord | None) -> str:
    """Check that the node has executed the transaction with the same effects and events."""
    if record is None:
        _fail(f"the node does not have the transaction {transaction.digest}")
    if record != transaction.evidence.record():
        _fail("the node has other signatures, effects, events, or another checkpoint")
    return "the node has the same transaction"


def _check_checkpoints(document: ProofDocument, records: _NodeRecords) -> str:
    for checkpoint, record in zip(document.checkpoints, records.checkpoints, strict=True):
        if record is None:
            _fail("the node does not have the checkpoint")
        if (record.summary, record.contents) != (checkpoint.summary, checkpoint.contents):
            _fail("the node has another checkpoint with the same number")
        if checkpoint.signature not in (None, record.signature):
            _fail("the node has another signature of the validators")
    return "the node has the same checkpoints"


def _check_call(
    deployment: Deployment,
    document: ProofDocument,
    request: DecodedTransaction,
    closing: DecodedTransaction,
) -> str:
    """Check that the readable part says what the bytes show."""
    call = read_call(deployment, document.invocation, request, closing)
    shown, said = (to_builtins(item, enc_hook=str) for item in (call, document.call))
    # Compare JSON texts, because Python treats 1, 1.0 and True as equal.
    different = [
        name for name in shown if canonical_json(shown[name]) != canonical_json(said[name])
    ]
    if different:
        _fail(f"the bytes show another value of {', '.join(different)}")
    return f"{call.fqn} answered {call.variant}"


def _check_statements(document: ProofDocument) -> str:
    """Check that the document explains itself as this format does, so that it cannot mislead."""
    if document.statements != statements_of(document.call):
        _fail("the document has other statements than this format")
    return "the document says what it proves"


def _fail(problem: str) -> NoReturn:
    raise ValidationError("proof_mismatch", problem)
