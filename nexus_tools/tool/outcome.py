"""The outcome of an invocation: an answer of the tool, or a failure with a reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FailureReason(StrEnum):
    """The reason of a failed invocation, as the Move module `invocation` defines it."""

    TOOL_NOT_REGISTERED = "tool_not_registered"
    DEFINITION_MISMATCH = "definition_mismatch"
    INPUT_INVALID = "input_invalid"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    HTTP_ERROR = "http_error"
    OUTPUT_INVALID = "output_invalid"
    OUTPUT_TOO_LARGE = "output_too_large"
    UNAUTHORIZED = "unauthorized"
    REFUSED = "refused"
    """The leader does not dispatch the invocation because of its own settings."""
    OVERLOADED = "overloaded"
    """The leader could not dispatch the invocation in time."""
    ABORTED = "aborted"
    """The Move function of an on-chain tool aborts."""
    EXPIRED = "expired"
    """No leader closed the invocation in time.

    This reason is derived from the invocation's state and is never stored.
    """


@dataclass(frozen=True, slots=True)
class OutcomeSignature:
    """A tool's Ed25519 signature of an answer: a 32-byte public key and a 64-byte signature."""

    key: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool: one variant and its ports by name, optionally signed by the tool.

    Variants that start with `err` are error variants.
    """

    variant: str
    ports: dict[str, Any]
    signature: OutcomeSignature | None = None

    @property
    def is_error(self) -> bool:
        """Whether the tool reports a failure in its own domain, such as a division by zero."""
        return is_error_variant(self.variant)

    def as_json(self) -> dict[str, Any]:
        """Return the answer in the form of a response body: `{variant: {port: value}}`."""
        return {self.variant: self.ports}


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of an invocation: a reason, and a detail for users."""

    reason: FailureReason
    detail: str


Outcome = Answer | Failure


def is_error_variant(name: str) -> bool:
    """Return whether a variant of this name reports a failure in the tool's domain."""
    return name.startswith("err")
