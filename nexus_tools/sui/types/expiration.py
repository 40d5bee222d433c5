"""Expirations, which limit when and on which chain a transaction may be executed.

Source: `TransactionExpiration` in `sui-types/src/transaction.rs`.
"""

from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, choice, option, record, struct, u32, u64, vector, wrapper
from nexus_tools.sui.types.digest import DIGEST, Digest


class NoExpiration(Struct, frozen=True):
    """An expiration that allows execution at any time."""


class EpochExpiration(Struct, frozen=True):
    """An expiration that allows execution until the end of an epoch."""

    epoch: int


class ValidDuring(Struct, frozen=True):
    """An expiration that allows one execution within epochs and times (ms) on one chain."""

    min_epoch: int | None
    max_epoch: int | None
    min_timestamp: int | None
    max_timestamp: int | None
    chain: Digest
    nonce: int


class Validity(Struct, frozen=True):
    """A `ValidDuring` that also limits the proposers to some validators of an epoch."""

    min_epoch: int | None
    max_epoch: int | None
    min_timestamp: int | None
    max_timestamp: int | None
    chain: Digest
    nonce: int
    allowed_proposers: tuple[Any, ...] | None


Expiration = NoExpiration | EpochExpiration | ValidDuring | Validity

_VALIDITY = (option(u64), option(u64), option(u64), option(u64), DIGEST, u32)
EXPIRATION: Codec[Expiration] = choice(
    "TransactionExpiration",
    (NoExpiration, struct(NoExpiration)),
    wrapper(EpochExpiration, u64),
    (ValidDuring, struct(ValidDuring, *_VALIDITY)),
    (Validity, struct(Validity, *_VALIDITY, option(record((u64, vector(u32)))))),
)
