"""pysui's messages and services of `sui.rpc.v2`, loaded when the first one is needed."""

from functools import cache
from typing import Any


@cache
def rpc() -> Any:
    """The module with pysui's message classes and service stubs."""
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2  # noqa: PLC0415 - takes 0.4 s

    return v2


@cache
def _field_mask() -> Any:
    from pysui.sui.sui_grpc.suimsgs.google.protobuf import FieldMask  # noqa: PLC0415 - as above

    return FieldMask


def mask(*paths: str) -> Any:
    """A read mask: the node sends these fields and no others."""
    return _field_mask()(paths=list(paths))
