"""Why the Move package aborts, in words.

The tables mirror the error constants of the Move sources: the place of a reason is its number.
"""

import re
from dataclasses import dataclass

from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    NotNowError,
    RefusedOnChainError,
    UsageError,
    ValidationError,
)
from nexus_tools.registry.package import Deployment
from nexus_tools.registry.times import duration, utc


@dataclass(frozen=True, slots=True)
class AbortReason:
    """One error constant: its name, its sentence, and what a user can do about it."""

    name: str
    sentence: str
    kind: type[NexusError]

    @property
    def code(self) -> str:
        """The stable word for programs: `ENotOwner` is `not_owner`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", self.name[1:]).lower()


ABORTS: dict[str, tuple[AbortReason, ...]] = {
    "bond": (
        AbortReason(
            "EAlreadyReleased",
            "The bond is already on release: wait for the delay to end, or cancel the release.",
            NotNowError,
        ),
        AbortReason(
            "EReleaseNotStarted",
            "The bond is not on release: release it first.",
            NotNowError,
        ),
        AbortReason(
            "EDelayNotOver",
            "The delay since the release is not over: reclaim later.",
            NotNowError,
        ),
        AbortReason("EEmpty", "The bond is empty: there is nothing to slash.", NotNowError),
        AbortReason(
            "EWrongTopUp",
            "The amount is not what the bond lacks: bring exactly `shortfall_mist`.",
            ValidationError,
        ),
    ),
    "value": (
        AbortReason(
            "ELengthMismatch",
            "There are not as many values as names: give one value for each port.",
            ValidationError,
        ),
        AbortReason(
            "EDuplicatePort",
            "Two values have the same port name: name each port once.",
            ValidationError,
        ),
        AbortReason(
            "ETooManyPorts",
            "There are more than 32 ports: put values that belong together into one JSON object.",
            ValidationError,
        ),
    ),
    "tool_registry": (
        AbortReason(
            "EWrongVersion",
            "The package was upgraded: call the functions of its newest version.",
            UsageError,
        ),
        AbortReason(
            "EAlreadyMigrated",
            "The registry already has the version of this package.",
            NotNowError,
        ),
        AbortReason(
            "EInvalidSettings",
            "The settings contradict each other, or a delay is longer than a year.",
            ValidationError,
        ),
    ),
    "tool": (
        AbortReason(
            "EInvalidFqn",
            "The FQN does not follow the grammar `domain.name@version`: see the module `fqn`.",
            ValidationError,
        ),
        AbortReason(
            "EUrlTooLong",
            "The URL is longer than 2 048 bytes: shorten it.",
            ValidationError,
        ),
        AbortReason(
            "EDescriptionTooLong",
            "The description is longer than 4 096 bytes: shorten it.",
            ValidationError,
        ),
        AbortReason(
            "ESchemaTooLarge",
            "A schema is larger than the registry's `max_schema_bytes`: simplify it.",
            ValidationError,
        ),
        AbortReason(
            "ETimeoutOutOfRange",
            "The timeout is outside the registry's `min_timeout_ms` and `max_timeout_ms`.",
            ValidationError,
        ),
        AbortReason(
            "EWrongCollateral",
            "The coin is not exactly the registry's `collateral_mist`.",
            ValidationError,
        ),
        AbortReason(
            "ENameTaken",
            "A version of this name is registered: further ones need the `OwnerCap` of the name.",
            NotAllowedError,
        ),
        AbortReason(
            "EFqnTaken",
            "The FQN is registered, perhaps unregistered since: choose another version.",
            NotNowError,
        ),
        AbortReason(
            "ENotOwner",
            "The cap is not the `OwnerCap` of this tool's name.",
            NotAllowedError,
        ),
        AbortReason(
            "ENotOperator",
            "The cap is neither the `OwnerCap` of this tool's name nor a valid "
            "`OperatorCap` of this tool.",
            NotAllowedError,
        ),
        AbortReason(
            "EUnknownOperator",
            "The tool has no operator cap with this id: it was revoked or belongs to another tool.",
            NotFoundError,
        ),
        AbortReason(
            "EClaimed",
            "The collateral was claimed: re-register the tool first.",
            NotNowError,
        ),
        AbortReason(
            "ENotClaimed",
            "The tool still has its bond: there is nothing to re-register.",
            NotNowError,
        ),
        AbortReason(
            "EUnknownToolType",
            "The type is none of the types of tools: say `offchain`.",
            ValidationError,
        ),
        AbortReason(
            "EOnchainNotAccepted",
            "On-chain tools are not accepted yet: offer the tool over HTTP as `offchain`.",
            ValidationError,
        ),
    ),
    "leader_registry": (
        AbortReason(
            "EWrongVersion",
            "The package was upgraded: call the functions of its newest version.",
            UsageError,
        ),
        AbortReason(
            "EAlreadyMigrated",
            "The registry already has the version of this package.",
            NotNowError,
        ),
        AbortReason(
            "EInvalidSettings",
            "The delay is longer than a year, or a failure pays more than a settlement.",
            ValidationError,
        ),
        AbortReason(
            "ENotAdmitted",
            "Only listed addresses may register: ask the admin to list the sender.",
            NotAllowedError,
        ),
        AbortReason(
            "EWrongBond",
            "The coin is not exactly the registry's `bond_mist`.",
            ValidationError,
        ),
        AbortReason(
            "ENameTooLong",
            "The name is longer than 200 bytes: shorten it.",
            ValidationError,
        ),
        AbortReason("EUnknownLeader", "There is no leader with this id.", NotFoundError),
        AbortReason("EAlreadyActive", "The leader is active already.", NotNowError),
        AbortReason("ENotActive", "The leader is not active.", NotNowError),
        AbortReason(
            "EBondNotInForce",
            "The leader's bond is slashed or on release: top it up or cancel the release.",
            NotNowError,
        ),
    ),
    "invocation": (
        AbortReason(
            "EToolNotActive",
            "The tool is suspended, unregistered or claimed: it takes no invocation.",
            NotNowError,
        ),
        AbortReason("ENoLeader", "No leader is active: try again later.", NotNowError),
        AbortReason(
            "EInputsTooLarge",
            "The inputs are larger than the registry's `max_ports_bytes`: use remote values.",
            ValidationError,
        ),
        AbortReason(
            "EOutcomeLimitTooLarge",
            "`max_outcome_bytes` is larger than the registry's `max_ports_bytes`.",
            ValidationError,
        ),
        AbortReason(
            "EWrongFunds",
            "The coin is not exactly what the invocation costs: see `quote`.",
            NotNowError,
        ),
        AbortReason(
            "EClosed",
            "The invocation is settled, failed or expired already.",
            NotNowError,
        ),
        AbortReason(
            "ENotResponsible",
            "The leader is not responsible for this invocation.",
            NotAllowedError,
        ),
        AbortReason("EBondSlashed", "The leader's bond was slashed: top it up.", NotNowError),
        AbortReason(
            "ETooEarly",
            "The leader's window has not begun: a leader before it may still close the invocation.",
            NotNowError,
        ),
        AbortReason(
            "ETooLate",
            "All windows are over: the invocation can only expire.",
            NotNowError,
        ),
        AbortReason(
            "ENotExpired",
            "The windows are not over: a leader may still close the invocation.",
            NotNowError,
        ),
        AbortReason(
            "EOutcomeTooLarge",
            "The outcome is larger than `max_outcome_bytes`: fail with the reason "
            "`output_too_large`.",
            ValidationError,
        ),
        AbortReason(
            "EUnknownReason",
            "The reason is none of the reasons for which an invocation fails.",
            ValidationError,
        ),
        AbortReason("ENotRequester", "Only the requester deletes the invocation.", NotAllowedError),
        AbortReason(
            "ENotClosed",
            "The invocation is not closed: it can be deleted once it is settled, failed or "
            "expired.",
            NotNowError,
        ),
        AbortReason(
            "ENotSettled",
            "The invocation is not settled: it has no outcome.",
            NotNowError,
        ),
    ),
}


_TIMED = ("EDelayNotOver", "ETooEarly", "ENotExpired")


def abort_reason(error: RefusedOnChainError, deployment: Deployment) -> AbortReason | None:
    """The reason behind an abort of the package; None if it is another failure."""
    details = error.details
    if details.get("package") not in (str(deployment.original_id), str(deployment.package_id)):
        return None
    reasons = ABORTS.get(str(details.get("module")), ())
    number = details.get("abort")
    return reasons[number] if isinstance(number, int) and number < len(reasons) else None


def explain_abort(
    error: RefusedOnChainError,
    deployment: Deployment,
    *,
    possible_at_ms: int | None = None,
    now_ms: int | None = None,
) -> NexusError:
    """The error in words, in the class that says what can be done; other failures unchanged.

    `possible_at_ms` is when the chain would allow what was tried, where the caller knows.
    """
    reason = abort_reason(error, deployment)
    if reason is None:
        return error
    message, _, hint = reason.sentence.rstrip(".").partition(": ")
    if reason.name in _TIMED and possible_at_ms is not None:
        message += f", possible from {moment(possible_at_ms, now_ms)}"
    details = error.details | {"reason": reason.name}
    return reason.kind(reason.code, message, hint=hint, details=details)


def moment(time_ms: int, now_ms: int | None) -> str:
    """When something is possible: `2026-11-28 09:14 UTC (in 6 d 23 h)`."""
    wait = "" if now_ms is None or now_ms >= time_ms else f" (in {duration(time_ms - now_ms)})"
    return f"{utc(time_ms)}{wait}"
