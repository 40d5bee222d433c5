"""The rendering of events (`sui.rpc.v2.Event` and `TransactionEvents`)."""

from nexus_tools.sui.localnet.ledger import EventPosition, ExecutedTransaction, LedgerEvent
from nexus_tools.sui.localnet.rpc.interface import Mask, prune
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import Digest, events_digest
from nexus_tools.sui.types.event import EVENTS, Event


def render_events(
    message: Message, executed: ExecutedTransaction, mask: Mask, json: JsonRenderer
) -> None:
    """Fill the events of a transaction, without their positions.

    `render_positions` adds the positions.
    """
    if "bcs" in mask or "digest" in mask:
        encoded = EVENTS.encode(executed.events)
        if "bcs" in mask:
            render_bcs(message.bcs, "TransactionEvents", encoded)
        if "digest" in mask:
            message.digest = str(events_digest(encoded))
    if (event_mask := mask.get("events")) is not None:
        for event in executed.events:
            render_event(message.events.add(), event, event_mask, json)


def render_positions(message: Message, executed: ExecutedTransaction, mask: Mask) -> None:
    """Add the positions of the events. The transaction must be on the chain."""
    event_mask = mask.get("events")
    if event_mask is None:
        return
    for index, target in enumerate(message.events):
        position = EventPosition(executed.checkpoint, executed.index_in_checkpoint, index)
        render_position(target, position, executed.digest, event_mask)


def render_event(message: Message, event: Event, mask: Mask, json: JsonRenderer) -> None:
    """Fill the content of an event, without its position. `render_position` adds the position."""
    if "package_id" in mask:
        message.package_id = str(event.package)
    if "module" in mask:
        message.module = event.module
    if "sender" in mask:
        message.sender = str(event.sender)
    if "event_type" in mask:
        message.event_type = str(event.type)
    if "contents" in mask:
        render_bcs(message.contents, str(event.type), event.contents)
    if "json" in mask:
        json.render(event.type, event.contents, lambda: message.json)


def render_ledger_event(
    message: Message, ledger_event: LedgerEvent, mask: Mask, json: JsonRenderer
) -> None:
    """Fill the requested fields of one event on the chain."""
    render_event(message, ledger_event.event, mask, json)
    render_position(message, ledger_event.position, ledger_event.transaction_digest, mask)
    prune(message, mask)


def render_position(
    message: Message, position: EventPosition, transaction: Digest, mask: Mask
) -> None:
    """Fill the position of an event on the chain."""
    if "checkpoint" in mask:
        message.checkpoint = position.checkpoint
    if "transaction_digest" in mask:
        message.transaction_digest = str(transaction)
    if "transaction_index" in mask:
        message.transaction_index = position.transaction
    if "event_index" in mask:
        message.event_index = position.event
