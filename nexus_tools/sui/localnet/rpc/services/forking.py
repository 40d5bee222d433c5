"""The service `sui.forking.v1alpha.ForkingService`, which advances the clock."""

from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.rpc import Message

MAX_ADVANCE_MS = 100 * 365 * 86_400_000
"""The longest advance, a hundred years. Larger values would overflow in clients."""


def _advance_clock(backend: Backend, request: Message, response: Message) -> None:
    duration = request.duration_ms if request.HasField("duration_ms") else 1
    if duration > MAX_ADVANCE_MS:
        raise invalid(f"invalid duration_ms: {duration} is more than {MAX_ADVANCE_MS}")
    summary = backend.node.advance_clock(duration)
    response.timestamp_ms = summary.timestamp_ms
    response.tx_digest = str(backend.node.ledger.latest.transactions[0].digest)


def _advance_checkpoint(backend: Backend, _: Message, response: Message) -> None:
    summary = backend.node.advance_clock(0)
    response.checkpoint_sequence_number = summary.sequence_number
    response.timestamp_ms = summary.timestamp_ms


def _get_status(backend: Backend, _: Message, response: Message) -> None:
    latest = backend.node.ledger.latest.summary
    response.epoch = latest.epoch
    response.checkpoint_sequence_number = latest.sequence_number
    response.timestamp_ms = latest.timestamp_ms


UNARY: dict[str, UnaryHandler] = {
    "AdvanceClock": _advance_clock,
    "AdvanceCheckpoint": _advance_checkpoint,
    "GetStatus": _get_status,
}
