"""The creation of a proof from the transactions, objects and checkpoints of a node."""

import asyncio

from nexus_tools.contracts import Deployment, PackageClient
from nexus_tools.contracts.move_bindings.invocation import InvocationSettled
from nexus_tools.errors import NexusError, NotFoundError, WrongStateError
from nexus_tools.registry.invocations.history import CLOSINGS, Step, read_history
from nexus_tools.registry.proofs.document import ProofDocument, TransactionEvidence
from nexus_tools.registry.proofs.evidence import decode_transaction, read_call
from nexus_tools.registry.proofs.statements import statements_of
from nexus_tools.sui.client import (
    CheckpointRecord,
    SuiClient,
    read_checkpoint_record,
    read_transaction_record,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS


async def make_proof(
    client: SuiClient, deployment: Deployment, invocation: Address
) -> ProofDocument:
    """Return the proof of a settled call, even if its invocation was deleted.

    Raises:
        WrongStateError: `not_settled` if the invocation is open, failed or expired, or
            `not_in_checkpoint` if a transaction is too new.
        NotFoundError: `invocation_unknown`, or `history_missing` if the node has pruned a part.
    """
    package = PackageClient(client, deployment)
    history = await read_history(package, invocation)
    request = history.steps[0]
    closing = next((step for step in history.steps if isinstance(step.event, CLOSINGS)), None)
    if closing is None or not isinstance(closing.event, InvocationSettled):
        raise _not_settled_error(invocation, closing)
    evidence = await asyncio.gather(
        _read_transaction(client, request, invocation),
        _read_transaction(client, closing, invocation),
    )
    numbers = sorted({part.checkpoint for part in evidence})
    checkpoints = await asyncio.gather(*(_read_checkpoint(client, number) for number in numbers))
    call = read_call(deployment, invocation, *map(decode_transaction, evidence))
    return ProofDocument(
        chain_id=deployment.chain_id,
        package=deployment.original_id,
        invocation=invocation,
        call=call,
        statements=statements_of(call),
        request=evidence[0],
        closing=evidence[1],
        checkpoints=tuple(checkpoints),
    )


async def _read_transaction(
    client: SuiClient, step: Step, invocation: Address
) -> TransactionEvidence:
    """Return a transaction with the invocation as the transaction wrote it."""
    record = await read_transaction_record(client, step.transaction)
    if record is None:
        raise _missing_error(f"the transaction {step.transaction}")
    if record.checkpoint is None:
        raise WrongStateError(
            "not_in_checkpoint",
            f"no checkpoint contains the transaction {step.transaction} yet",
            hint="Run the command again in a few seconds.",
        )
    version = TRANSACTION_EFFECTS.decode(record.effects).lamport_version
    value = await client.object(invocation, version)
    if value is None:
        raise _missing_error(f"version {version} of the invocation {invocation}")
    return TransactionEvidence(
        record.transaction,
        record.signatures,
        record.effects,
        record.events,
        value.encode(),
        record.checkpoint,
    )


async def _read_checkpoint(client: SuiClient, number: int) -> CheckpointRecord:
    record = await read_checkpoint_record(client, number)
    if record is None:
        raise _missing_error(f"the checkpoint {number}")
    return record


def _not_settled_error(invocation: Address, closing: Step | None) -> NexusError:
    state = "not closed yet" if closing is None else type(closing.event).__name__[10:].lower()
    return WrongStateError(
        "not_settled",
        f"the invocation {invocation} is {state}, so the tool was not paid",
        hint=f"Run `nexus-tools tool outcome {invocation} --explain` to see its history.",
    )


def _missing_error(what: str) -> NexusError:
    return NotFoundError(
        "history_missing",
        f"the node no longer has {what}",
        hint="Use a node with a longer history.",
    )
