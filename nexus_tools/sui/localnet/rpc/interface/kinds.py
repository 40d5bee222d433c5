"""The numbers of input, argument and expiration kinds in request and response messages."""

from enum import IntEnum


class InputKind(IntEnum):
    """The numbers of `sui.rpc.v2.Input.InputKind`."""

    PURE = 1
    IMMUTABLE_OR_OWNED = 2
    SHARED = 3
    RECEIVING = 4
    FUNDS_WITHDRAWAL = 5


class Mutability(IntEnum):
    """The numbers of `sui.rpc.v2.Input.Mutability`."""

    IMMUTABLE = 1
    MUTABLE = 2
    NON_EXCLUSIVE_WRITE = 3


class ArgumentKind(IntEnum):
    """The numbers of `sui.rpc.v2.Argument.ArgumentKind`."""

    GAS = 1
    INPUT = 2
    RESULT = 3


class ExpirationKind(IntEnum):
    """The numbers of `sui.rpc.v2.TransactionExpiration.TransactionExpirationKind`."""

    NONE = 1
    EPOCH = 2
    VALID_DURING = 3
    VALIDITY = 4
