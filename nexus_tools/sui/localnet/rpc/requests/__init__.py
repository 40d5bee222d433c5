"""The parsing of request messages. Errors name the missing or invalid field."""

from nexus_tools.sui.localnet.rpc.requests.cursor import Cursor, successor
from nexus_tools.sui.localnet.rpc.requests.fields import (
    address,
    digest,
    parsed,
    required,
    struct_tag_field,
)
from nexus_tools.sui.localnet.rpc.requests.filters import (
    TransactionFilter,
    parse_event_filter,
    parse_transaction_filter,
)
from nexus_tools.sui.localnet.rpc.requests.paging import page_size, place_of, token_for
from nexus_tools.sui.localnet.rpc.requests.query import End, Query
from nexus_tools.sui.localnet.rpc.requests.signature import serialized_signature
from nexus_tools.sui.localnet.rpc.requests.transaction import (
    parse_commands,
    parse_expiration,
    parse_transaction,
    parse_withdrawal,
    programmable_message,
)

__all__ = [
    "Cursor",
    "End",
    "Query",
    "TransactionFilter",
    "address",
    "digest",
    "page_size",
    "parse_commands",
    "parse_event_filter",
    "parse_expiration",
    "parse_transaction",
    "parse_transaction_filter",
    "parse_withdrawal",
    "parsed",
    "place_of",
    "programmable_message",
    "required",
    "serialized_signature",
    "struct_tag_field",
    "successor",
    "token_for",
]
