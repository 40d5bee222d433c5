"""The exception of the verifier."""


class VerificationError(Exception):
    """A module that violates a rule of Move or Sui.

    `status` is the name of the Move status code (`STLOC_TYPE_MISMATCH_ERROR`, ...) and `message`
    describes the violation. `module` and `function` are names. `function` is None unless its code
    is invalid. `offset` is the index of the instruction, or None if it is unknown.
    """

    def __init__(
        self,
        status: str,
        message: str,
        module: str,
        function: str | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message or status)
        self.status = status
        self.message = message
        self.module = module
        self.function = function
        self.offset = offset
