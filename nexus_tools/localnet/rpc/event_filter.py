"""Filters of events, as clients send them (`sui.rpc.v2.EventFilter`)."""

from collections.abc import Callable

from nexus_tools.localnet.ledger import EmittedBy, EventFilter, EventLiteral, HasType, SentBy
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.request_fields import address, parsed, required
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import parse_struct_tag

MAX_LITERALS = 64

EventPredicate = SentBy | EmittedBy | HasType


def parse_event_filter(request: Message) -> EventFilter | None:
    """The filter of a request; None if it has none. Raises `RpcError`."""
    if not request.HasField("filter"):
        return None
    check_size(request.filter)
    return tuple(
        tuple(EventLiteral(_predicate(literal), literal.negated) for literal in term.literals)
        for term in request.filter.terms
    )


def check_size(found: Message) -> None:
    """Refuse a filter without terms, or with too many literals."""
    if not found.terms:
        raise invalid("invalid filter.terms: at least one filter term is required")
    count = sum(len(term.literals) for term in found.terms)
    if count > MAX_LITERALS:
        raise invalid(f"filter contains {count} literals; at most {MAX_LITERALS} are allowed")


def _predicate(literal: Message) -> EventPredicate:
    name = literal.WhichOneof("predicate")
    if name is None:
        raise invalid("invalid filter.terms.literals: predicate variant is required")
    parse = EVENT_PREDICATES.get(name)
    if parse is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this local network does not filter by {name}")
    return parse(getattr(literal, name))


def _sender(found: Message) -> SentBy:
    return SentBy(address(found, "address"))


def _emit_module(found: Message) -> EmittedBy:
    package, *module = path_of(required(found, "module"), "emit_module", 2)
    return EmittedBy(parsed("emit_module", package, Address.parse), *module)


def _event_type(found: Message) -> HasType:
    text = required(found, "event_type")
    if "<" in text:
        tag = parsed("event_type", text, parse_struct_tag)
        return HasType(tag.address, tag.module, tag.name, tag.type_params)
    package, *names = path_of(text, "event_type", 3)
    module, name = (*names, None, None)[:2]
    return HasType(parsed("event_type", package, Address.parse), module, name)


def path_of(text: str, name: str, longest: int) -> list[str]:
    """The parts of a path such as `package::module`. Raises `RpcError`."""
    parts = text.split("::")
    if len(parts) > longest or not all(parts):
        raise invalid(f"invalid {name}: {text[:200]!r} has not 1 to {longest} parts")
    return parts


EVENT_PREDICATES: dict[str, Callable[[Message], EventPredicate]] = {
    "sender": _sender,
    "emit_module": _emit_module,
    "event_type": _event_type,
}
