"""What kind of error an abort of the Move package is.

Its sentence is the comment of its constant in the Move sources, which `move` has generated.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    NotNowError,
    RefusedOnChainError,
    UsageError,
    ValidationError,
)
from nexus_tools.sui.bindings.runtime import MoveError, Package, Types
from nexus_tools.sui.support.units import utc

KINDS: Mapping[type[NexusError], frozenset[str]] = {
    NotNowError: frozenset(
        {
            *("EAlreadyUnregistered", "ENotUnregistered", "EDelayNotOver", "EHeldBack"),
            *("ESlashPending", "ENoSlashPending", "ENotDue", "ENotAccepting", "EDelayOver"),
            *("EAlreadyMigrated", "EFqnTaken", "EClaimed", "ENotClaimed", "EDelayTooLong"),
            *("EAlreadyActive", "ENotActive", "ENotInForce", "ELeaderSuspended"),
            *("EToolNotActive", "EToolChanged", "ESettingsChanged", "ELeaderNotActive"),
            *("EWrongPayment", "EClosed", "ELeadersChanged"),
            *("ETooEarly", "ENotExpired", "ENotClosed", "ENotSettled", "EToolWithoutKey"),
            *("EAlreadyUpgraded", "EUpgrading", "EProposed", "ENothingProposed", "EVoid"),
            *("EPaused", "ENotPaused", "ECancelled", "ENotCancelled", "ENotCollected"),
            *("ENotEnded", "EEnded", "ENotOver", "ENotClean", "ENotChecked", "EImmutable"),
        }
    ),
    NotAllowedError: frozenset(
        {
            *("ENameTaken", "ENotOwner", "ENotOperator"),
            *("ELeaderNotAccepted", "ENotResponsible", "ENotWorker", "ENotRequester"),
            *("ENotOffered", "ENotNamed", "ENotAsked", "ENotForAnyone"),
        }
    ),
    NotFoundError: frozenset({"ENotListed", "EUnknownKey"}),
    UsageError: frozenset({"EWrongVersion"}),
}
"""What a user can do about an error constant; the others say that something given is not right."""

_TIMED = {
    "EAlreadyUnregistered": "claimable at",
    "EDelayNotOver": "claimable at",
    "ENotDue": "possible from",
    "ETooEarly": "possible from",
    "ENotExpired": "it expires at",
}


class Published(Protocol):
    """Packages of ours on some chain."""

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """Their bindings, with the words of their errors, and where they are."""


def code_of(reason: MoveError) -> str:
    """The stable word for programs: `ENotOwner` is `not_owner`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", reason.name[1:]).lower()


def kind_of(reason: MoveError) -> type[NexusError]:
    """The class that says what can be done."""
    kinds = (kind for kind, names in KINDS.items() if reason.name in names)
    return next(kinds, ValidationError)


def abort_reason(error: RefusedOnChainError, published: Published) -> MoveError | None:
    """The reason behind an abort of one of the packages; None if it is another failure."""
    number, place = error.details.get("abort"), error.details.get("package")
    if not isinstance(number, int):
        return None
    for types, package in published.packages:
        if place in (str(package.original_id), str(package.id)):
            return types.error_of(str(error.details.get("module")), number)
    return None


def explain_abort(
    error: RefusedOnChainError,
    published: Published,
    *,
    possible_at_ms: int | None = None,
    now_ms: int | None = None,
    subject: str = "",
) -> NexusError:
    """The error in words, in the class that says what can be done; other failures unchanged.

    `possible_at_ms` is when the chain would allow what has to wait, and `subject` what has the
    collateral, `The tool` or `The leader`, where the caller knows.
    """
    reason = abort_reason(error, published)
    if reason is None:
        return error
    details = error.details | {"reason": reason.name}
    sentence = reason.sentence.replace("The tool or leader", subject or "The tool or leader")
    message, _, hint = sentence.rstrip(".").partition(": ")
    if reason.name in _TIMED and possible_at_ms is not None:
        message += f": {_TIMED[reason.name]} {utc(possible_at_ms, now_ms)}"
        details["possible_at_ms"] = possible_at_ms
        if now_ms is not None:
            details["wait_ms"] = max(0, possible_at_ms - now_ms)
    return kind_of(reason)(code_of(reason), message, hint=hint, details=details)
