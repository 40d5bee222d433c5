"""The rendering of executed transactions (`sui.rpc.v2.ExecutedTransaction`)."""

from nexus_tools.sui.localnet.ledger import BalanceChange, ExecutedTransaction
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import Mask, prune
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_time
from nexus_tools.sui.localnet.rpc.rendering.effects import render_effects
from nexus_tools.sui.localnet.rpc.rendering.event import render_events, render_positions
from nexus_tools.sui.localnet.rpc.rendering.execution_error import FindModule
from nexus_tools.sui.localnet.rpc.rendering.object import render_object
from nexus_tools.sui.localnet.rpc.rendering.signature import render_signature
from nexus_tools.sui.localnet.rpc.rendering.transaction import render_transaction
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.execution_status import MoveLocation
from nexus_tools.sui.types.object import MovePackage


def render_executed(
    message: Message, executed: ExecutedTransaction, mask: Mask, node: Node, json: JsonRenderer
) -> None:
    """Fill the requested fields of a transaction that is on the chain."""
    if "checkpoint" in mask:
        message.checkpoint = executed.checkpoint
    if "timestamp" in mask:
        render_time(message.timestamp, executed.timestamp_ms)
    if "transaction_index" in mask:
        message.transaction_index = executed.index_in_checkpoint
    if (signatures := mask.get("signatures")) is not None:
        for signature in executed.signatures:
            render_signature(message.signatures.add(), signature, signatures)
    render_outcome(message, executed, mask, node, json)
    if (events_mask := mask.get("events")) is not None and executed.events:
        render_positions(message.events, executed, events_mask)


def render_outcome(
    message: Message, executed: ExecutedTransaction, mask: Mask, node: Node, json: JsonRenderer
) -> None:
    """Fill the requested fields that both executed and simulated transactions have."""
    if "digest" in mask:
        message.digest = str(executed.digest)
    if (inner_mask := mask.get("transaction")) is not None:
        target = message.transaction
        render_transaction(target, executed.data, executed.data_bytes, executed.digest, inner_mask)
    if (inner_mask := mask.get("effects")) is not None:
        _render_effects(message.effects, executed, inner_mask, node)
    if (inner_mask := mask.get("events")) is not None and executed.events:
        render_events(message.events, executed, inner_mask, json)
    if "balance_changes" in mask:
        for change in executed.balance_changes:
            _render_balance_change(message.balance_changes.add(), change)
    if (inner_mask := mask.get("objects")) is not None:
        _render_objects(message.objects, executed, inner_mask, json)
    prune(message, mask)


def module_finder(node: Node, executed: ExecutedTransaction) -> FindModule:
    """Return a function that looks up a module on the ledger and among the written packages."""

    def find(location: MoveLocation) -> bytes | None:
        stored = node.ledger.get(location.package)
        candidates = (stored, *executed.output_objects)
        for package in (value.data for value in candidates if value is not None):
            if isinstance(package, MovePackage) and package.id == location.package:
                return dict(package.modules).get(location.module)
        return None

    return find


def _render_effects(
    message: Message, executed: ExecutedTransaction, mask: Mask, node: Node
) -> None:
    types = {value.id: value for value in executed.input_objects}
    types.update((value.id, value) for value in executed.output_objects)
    render_effects(
        message,
        executed.effects,
        executed.effects_bytes,
        executed.effects_digest,
        mask,
        types=types,
        find_module=module_finder(node, executed),
    )


def _render_balance_change(message: Message, change: BalanceChange) -> None:
    message.address = str(change.address)
    message.coin_type = str(change.coin_type)
    message.amount = str(change.amount)


def _render_objects(
    message: Message, executed: ExecutedTransaction, mask: Mask, json: JsonRenderer
) -> None:
    """Fill all versions of the input and output objects."""
    object_mask = mask.get("objects")
    if object_mask is None:
        return
    objects = {
        (value.id, value.version): value
        for value in (*executed.input_objects, *executed.output_objects)
    }
    for _, value in sorted(objects.items()):
        render_object(message.objects.add(), value, object_mask, json)
