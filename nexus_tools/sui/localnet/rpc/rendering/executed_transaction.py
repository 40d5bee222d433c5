"""Executed transactions (`sui.rpc.v2.ExecutedTransaction`)."""

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
    """The wanted fields of a transaction that is on the chain."""
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
    if (wanted := mask.get("events")) is not None and executed.events:
        render_positions(message.events, executed, wanted)


def render_outcome(
    message: Message, executed: ExecutedTransaction, mask: Mask, node: Node, json: JsonRenderer
) -> None:
    """What is known of a transaction whether it is on the chain or was only simulated."""
    if "digest" in mask:
        message.digest = str(executed.digest)
    if (wanted := mask.get("transaction")) is not None:
        target = message.transaction
        render_transaction(target, executed.data, executed.data_bytes, executed.digest, wanted)
    if (wanted := mask.get("effects")) is not None:
        _render_effects(message.effects, executed, wanted, node)
    if (wanted := mask.get("events")) is not None and executed.events:
        render_events(message.events, executed, wanted, json)
    if "balance_changes" in mask:
        for change in executed.balance_changes:
            _render_balance_change(message.balance_changes.add(), change)
    if (wanted := mask.get("objects")) is not None:
        _render_objects(message.objects, executed, wanted, json)
    prune(message, mask)


def module_finder(node: Node, executed: ExecutedTransaction) -> FindModule:
    """Finds modules of the ledger, and of packages that the transaction itself publishes."""

    def find(location: MoveLocation) -> bytes | None:
        found = node.ledger.get(location.package)
        written = (found, *executed.output_objects)
        for package in (each.data for each in written if each is not None):
            if isinstance(package, MovePackage) and package.id == location.package:
                return dict(package.modules).get(location.module)
        return None

    return find


def _render_effects(
    message: Message, executed: ExecutedTransaction, mask: Mask, node: Node
) -> None:
    types = {found.id: found for found in executed.input_objects}
    types.update((found.id, found) for found in executed.output_objects)
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
    """Every version of every object that went in or came out."""
    object_mask = mask.get("objects")
    if object_mask is None:
        return
    known = {
        (found.id, found.version): found
        for found in (*executed.input_objects, *executed.output_objects)
    }
    for _, found in sorted(known.items()):
        render_object(message.objects.add(), found, object_mask, json)
