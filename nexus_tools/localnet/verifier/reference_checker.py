"""The references on the stack while the instructions of a block are gone through."""

from nexus_tools.localnet.verifier.context import FunctionContext
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.reference_state import ReferenceState


class ReferenceChecker:
    """The stack of one block (references and `VALUE`), the state, and where in it the check is."""

    def __init__(self, context: FunctionContext, state: ReferenceState) -> None:
        self.context = context
        self.module = context.module
        self.state = state
        self.stack: list[int] = []
        self.offset = 0

    def refused(self, status: str, message: str) -> VerificationError:
        """The error to raise at the present instruction."""
        return self.context.refused(status, message, self.offset)
