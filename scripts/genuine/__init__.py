"""Sui's own Move VM and verifier, from the wheel `sui_sandbox`: the reference implementation."""

from genuine.machine import Call, Children, ask, call_reference
from genuine.outcome import ABORTED, LIMIT, RETURNED, Outcome, agree
from genuine.verifier import ACCEPTED, NOT_COMPARED, callable_functions, verdict

__all__ = [
    "ABORTED",
    "ACCEPTED",
    "LIMIT",
    "NOT_COMPARED",
    "RETURNED",
    "Call",
    "Children",
    "Outcome",
    "agree",
    "ask",
    "call_reference",
    "callable_functions",
    "verdict",
]
