"""The rendering of checkpoints (`sui.rpc.v2.Checkpoint`)."""

from nexus_tools.sui.localnet.ledger import Checkpoint
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import EVERYTHING, Mask, prune
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs, render_time
from nexus_tools.sui.localnet.rpc.rendering.effects import render_gas_used
from nexus_tools.sui.localnet.rpc.rendering.executed_transaction import render_executed
from nexus_tools.sui.localnet.rpc.rendering.object import render_object
from nexus_tools.sui.localnet.rpc.rendering.signature import render_signature
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.checkpoint import CheckpointContents, CheckpointSummary, EndOfEpochData

_CONTENTS_VERSION = 1


def render_checkpoint(
    message: Message, checkpoint: Checkpoint, mask: Mask, node: Node, json: JsonRenderer
) -> None:
    """Fill the requested fields of a checkpoint.

    On this network, checkpoints have no signatures.
    """
    message.sequence_number = checkpoint.number
    if "digest" in mask:
        message.digest = str(checkpoint.digest)
    if (inner_mask := mask.get("summary")) is not None:
        _render_summary(message.summary, checkpoint, inner_mask)
    if (inner_mask := mask.get("contents")) is not None:
        _render_contents(message.contents, checkpoint.contents, inner_mask)
    if (inner_mask := mask.get("transactions")) is not None:
        for executed in checkpoint.transactions:
            render_executed(message.transactions.add(), executed, inner_mask, node, json)
    if (inner_mask := mask.get("objects")) is not None:
        _render_objects(message.objects, checkpoint, inner_mask, json)
    prune(message, mask)


def _render_summary(message: Message, checkpoint: Checkpoint, mask: Mask) -> None:
    summary: CheckpointSummary = checkpoint.summary
    if "bcs" in mask:
        render_bcs(message.bcs, "CheckpointSummary", summary.encode())
    message.digest = str(checkpoint.digest)
    message.epoch = summary.epoch
    message.sequence_number = summary.sequence_number
    message.total_network_transactions = summary.network_total_transactions
    message.content_digest = str(summary.content_digest)
    if summary.previous_digest is not None:
        message.previous_digest = str(summary.previous_digest)
    gas_used = summary.epoch_rolling_gas_cost_summary
    render_gas_used(message.epoch_rolling_gas_cost_summary, gas_used)
    render_time(message.timestamp, summary.timestamp_ms)
    if summary.end_of_epoch_data is not None:
        _render_end_of_epoch(message.end_of_epoch_data, summary.end_of_epoch_data)
    message.version_specific_data = summary.version_specific_data


def _render_end_of_epoch(message: Message, data: EndOfEpochData) -> None:
    for public_key, weight in data.next_epoch_committee:
        message.next_epoch_committee.add(public_key=public_key, weight=weight)
    message.next_epoch_protocol_version = data.next_epoch_protocol_version


def _render_contents(message: Message, contents: CheckpointContents, mask: Mask) -> None:
    encoded = contents.encode()
    if "bcs" in mask:
        render_bcs(message.bcs, "CheckpointContents", encoded)
    message.digest = str(contents.digest())
    message.version = _CONTENTS_VERSION
    if "transactions" not in mask:
        return
    for (digest, effects), signatures in zip(
        contents.transactions, contents.signatures, strict=True
    ):
        target = message.transactions.add(transaction=str(digest), effects=str(effects))
        for signature in signatures:
            render_signature(target.signatures.add(), signature, EVERYTHING)


def _render_objects(
    message: Message, checkpoint: Checkpoint, mask: Mask, json: JsonRenderer
) -> None:
    object_mask = mask.get("objects")
    if object_mask is None:
        return
    objects = {
        (value.id, value.version): value
        for executed in checkpoint.transactions
        for value in (*executed.input_objects, *executed.output_objects)
    }
    for _, value in sorted(objects.items()):
        render_object(message.objects.add(), value, object_mask, json)
