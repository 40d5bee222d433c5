"""What an invocation came to: an answer of the tool, or a failure with a reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FailureReason(StrEnum):
    """Why an invocation has no answer of the tool's own, as the Move module `invocation` says."""

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
    """The leader will not carry it, by its own rules."""
    OVERLOADED = "overloaded"
    """The leader could not carry it in time."""
    ABORTED = "aborted"
    """The Move function of an on-chain tool does not work."""
    EXPIRED = "expired"
    """No leader closed it in time: nobody writes this reason, its state says it."""


@dataclass(frozen=True, slots=True)
class OutcomeSignature:
    """A tool's Ed25519 signature of an answer: the public key, of 32 bytes, and 64 bytes."""

    key: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave: one variant and its ports by name, perhaps signed by the tool.

    Variants that start with `err` are error variants.
    """

    variant: str
    ports: dict[str, Any]
    signature: OutcomeSignature | None = None

    @property
    def is_error(self) -> bool:
        """Whether the tool reports a failure of its own domain."""
        return is_error_variant(self.variant)

    def as_json(self) -> dict[str, Any]:
        """As a tool gives it: `{variant: {port: value}}`."""
        return {self.variant: self.ports}


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer: the reason, and a detail for people."""

    reason: FailureReason
    detail: str


Outcome = Answer | Failure


def is_error_variant(name: str) -> bool:
    """Whether a variant of this name reports a failure of the tool's domain."""
    return name.startswith("err")
