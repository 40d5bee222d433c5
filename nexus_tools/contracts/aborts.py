"""Errors for aborts of the Move packages.

The message of an abort is the comment of its error constant in the Move sources. The generated
bindings contain these comments.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UsageError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.sui.bindings.runtime import MoveError, Package, Types
from nexus_tools.sui.support.units import utc

KINDS: Mapping[type[NexusError], frozenset[str]] = {
    WrongStateError: frozenset(
        {
            *("EAlreadyUnregistered", "ENotUnregistered", "EDelayNotOver", "ELockedForSlash"),
            *("ESlashPending", "ENoSlashPending", "ESlashNotDue", "ENotAccepting", "EDelayOver"),
            *("EAlreadyMigrated", "EFqnTaken", "EAlreadyClaimed", "ENotClaimed", "EDelayTooLong"),
            *("EAlreadyActive", "ENotActive", "ECollateralInactive", "ELeaderSuspended"),
            *("EToolNotActive", "EToolChanged", "ESettingsChanged", "ELeaderNotActive"),
            *("EWrongPayment", "EAlreadyClosed", "ELeadersChanged"),
            *("ETooEarly", "ENotExpired", "ENotClosed", "ENotSettled", "EToolWithoutKey"),
            *(
                "EAlreadyUpgraded",
                "EUpgradeInProgress",
                "EProposalPending",
                "ENoProposal",
                "EProposalExpired",
            ),
            *("EAlreadyPaused", "ENotPaused", "EScheduleCancelled", "EScheduleNotCancelled"),
            *("EExecutionsNotCollected", "EExecutionNotEnded", "EExecutionEnded"),
            *("EDeadlineNotReached", "EExecutionNotEmpty", "EPagesNotChecked", "EImmutable"),
        }
    ),
    NotAllowedError: frozenset(
        {
            *("ENameTaken", "ENotOwner", "ENotOperator"),
            *("ELeaderNotAccepted", "ENotResponsible", "ENotWorker", "ENotRequester"),
            *("ENotOffered", "ELeaderNotListed", "ENotAnswerer", "ELeadersOnly"),
        }
    ),
    NotFoundError: frozenset({"ENotListed", "EUnknownKey"}),
    UsageError: frozenset({"EWrongVersion"}),
}
"""The error classes of Move error constants. Other constants raise a `ValidationError`."""

_TIMED = {
    "EAlreadyUnregistered": "claimable at",
    "EDelayNotOver": "claimable at",
    "ESlashNotDue": "possible from",
    "ETooEarly": "possible from",
    "ENotExpired": "expires at",
}


class Published(Protocol):
    """The nexus-tools packages that are published on a chain."""

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """The bindings and the IDs of each package. The bindings contain the error messages."""


def code_of(reason: MoveError) -> str:
    """Return the stable error code of an error constant: `ENotOwner` has the code `not_owner`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", reason.name[1:]).lower()


def kind_of(reason: MoveError) -> type[NexusError]:
    """Return the error class of an error constant."""
    kinds = (kind for kind, names in KINDS.items() if reason.name in names)
    return next(kinds, ValidationError)


def abort_reason(error: RefusedOnChainError, published: Published) -> MoveError | None:
    """Return the error constant of an abort in one of the packages, or None for other errors."""
    number, package_id = error.details.get("abort"), error.details.get("package")
    if not isinstance(number, int):
        return None
    for types, package in published.packages:
        if package_id in (str(package.original_id), str(package.id)):
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
    """Return the error for an abort in one of the packages. Return other errors unchanged.

    `possible_at_ms` is the earliest time at which the chain allows the operation, or None if that
    time is unknown. `subject` starts messages about collateral: `The tool` or `The leader`.
    """
    reason = abort_reason(error, published)
    if reason is None:
        return error
    details = error.details | {"reason": reason.name}
    sentence = reason.sentence.replace("The tool or leader", subject or "The tool or leader")
    message, _, hint = sentence.rstrip(".").partition(": ")
    hint = f"{hint[:1].upper()}{hint[1:]}." if hint else ""
    if reason.name in _TIMED and possible_at_ms is not None:
        message += f": {_TIMED[reason.name]} {utc(possible_at_ms, now_ms)}"
        details["possible_at_ms"] = possible_at_ms
        if now_ms is not None:
            details["wait_ms"] = max(0, possible_at_ms - now_ms)
    return kind_of(reason)(code_of(reason), message, hint=hint, details=details)
