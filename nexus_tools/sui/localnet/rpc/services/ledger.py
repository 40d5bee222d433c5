"""The service `sui.rpc.v2.LedgerService`: objects, transactions, checkpoints and epochs."""

from collections.abc import Callable

from nexus_tools.sui.localnet.ledger import Checkpoint, ExecutedTransaction
from nexus_tools.sui.localnet.rpc.backend import Backend, StreamingHandler, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import (
    BATCH_ITEMS,
    CHAIN_NAME,
    CHECKPOINT_FIELDS,
    EPOCH_FIELDS,
    OBJECT_FIELDS,
    SERVER_NAME,
    TRANSACTION_FIELDS,
    Mask,
    RpcError,
    invalid,
    not_found,
    prune,
    render_status,
    requested_mask,
)
from nexus_tools.sui.localnet.rpc.rendering import (
    render_checkpoint,
    render_epoch,
    render_executed,
    render_object,
    render_time,
)
from nexus_tools.sui.localnet.rpc.requests import address, digest, parsed
from nexus_tools.sui.localnet.rpc.services.history import (
    list_checkpoints,
    list_events,
    list_transactions,
)
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import CLOCK
from nexus_tools.sui.types.digest import Digest


def _get_service_info(backend: Backend, _: Message, response: Message) -> None:
    backend.node.catch_up()
    latest = backend.node.ledger.latest.summary
    response.chain_id = str(backend.node.chain_id)
    response.chain = CHAIN_NAME
    response.epoch = latest.epoch
    response.checkpoint_height = latest.sequence_number
    render_time(response.timestamp, latest.timestamp_ms)
    response.lowest_available_checkpoint = 0
    response.lowest_available_checkpoint_objects = 0
    response.server = SERVER_NAME


# --- Objects


def _get_object(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("Object"), OBJECT_FIELDS)
    _render_found_object(backend, request, response.object, mask)


def _batch_get_objects(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("Object"), OBJECT_FIELDS)
    _check_batch(len(request.requests))
    for object_request in request.requests:

        def render(result: Message, item: Message = object_request) -> None:
            _render_found_object(backend, item, result.object, mask)

        _render_result(backend, response.objects.add(), render)


def _render_found_object(backend: Backend, request: Message, message: Message, mask: Mask) -> None:
    object_id = address(request, "object_id")
    if object_id == CLOCK:
        backend.node.catch_up()
    ledger = backend.node.ledger
    if request.HasField("version"):
        value = ledger.get_version(object_id, request.version)
        name = f"Object {object_id} with version {request.version}"
    else:
        value, name = ledger.get(object_id), f"Object {object_id}"
    if value is None:
        raise not_found(f"{name} not found")
    render_object(message, value, mask, backend.json)
    prune(message, mask)


# --- Transactions


def _get_transaction(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION_FIELDS)
    executed = _find_transaction(backend, digest(request, "digest"))
    render_executed(response.transaction, executed, mask, backend.node, backend.json)


def _batch_get_transactions(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION_FIELDS)
    _check_batch(len(request.digests))
    for text in request.digests:

        def render(result: Message, text: str = text) -> None:
            executed = _find_transaction(backend, parsed("digest", text, Digest.parse))
            render_executed(result.transaction, executed, mask, backend.node, backend.json)

        _render_result(backend, response.transactions.add(), render)


def _find_transaction(backend: Backend, transaction_digest: Digest) -> ExecutedTransaction:
    executed = backend.node.ledger.transaction(transaction_digest)
    if executed is None:
        raise not_found(f"Transaction {transaction_digest} not found")
    return executed


def _check_batch(size: int) -> None:
    if size > BATCH_ITEMS:
        raise invalid(f"the batch is too large: expected at most {BATCH_ITEMS} items, got {size}")


def _render_result(backend: Backend, result: Message, render: Callable[[Message], None]) -> None:
    """Fill one item of a batch response with a message or an error."""
    try:
        render(result)
    except RpcError as error:
        render_status(result.error, error, backend.messages)


# --- Checkpoints and epochs


def _get_checkpoint(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("Checkpoint"), CHECKPOINT_FIELDS)
    checkpoint = _find_checkpoint(backend, request)
    render_checkpoint(response.checkpoint, checkpoint, mask, backend.node, backend.json)


def _find_checkpoint(backend: Backend, request: Message) -> Checkpoint:
    ledger = backend.node.ledger
    named_by = request.WhichOneof("checkpoint_id")
    if named_by == "sequence_number":
        checkpoint, name = ledger.checkpoint(request.sequence_number), str(request.sequence_number)
    elif named_by == "digest":
        checkpoint_digest = digest(request, "digest")
        checkpoint, name = ledger.checkpoint_by_digest(checkpoint_digest), str(checkpoint_digest)
    else:
        backend.node.catch_up()
        return ledger.latest
    if checkpoint is None:
        raise not_found(f"Checkpoint {name} not found")
    return checkpoint


def _get_epoch(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("Epoch"), EPOCH_FIELDS)
    node = backend.node
    number = request.epoch if request.HasField("epoch") else node.environment.epoch
    epoch = node.epochs.get(number)
    if epoch is not None:
        render_epoch(response.epoch, epoch, mask)
    elif "committee" in mask:
        raise not_found(f"Committee for epoch {number} not found")
    else:  # a full node responds like this for an unknown epoch
        response.epoch.epoch = number
    prune(response.epoch, mask)


UNARY: dict[str, UnaryHandler] = {
    "GetServiceInfo": _get_service_info,
    "GetObject": _get_object,
    "BatchGetObjects": _batch_get_objects,
    "GetTransaction": _get_transaction,
    "BatchGetTransactions": _batch_get_transactions,
    "GetCheckpoint": _get_checkpoint,
    "GetEpoch": _get_epoch,
}
STREAMING: dict[str, StreamingHandler] = {
    "ListCheckpoints": list_checkpoints,
    "ListTransactions": list_transactions,
    "ListEvents": list_events,
}
