"""Values of the fields of list requests and responses, such as `ListEvents`.

Source: `Ordering` and `QueryEndReason` of `sui.rpc.v2`.
"""

DESCENDING = 1
"""The value of `Ordering` for lists from the newest to the oldest item."""

_ITEM_LIMIT, _SCAN_LIMIT = 1, 2
THERE_IS_MORE = (_ITEM_LIMIT, _SCAN_LIMIT)
"""The values of `QueryEndReason` for a list response that ends early because of a limit."""
