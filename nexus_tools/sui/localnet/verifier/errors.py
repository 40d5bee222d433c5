"""The one way in which verifying a module fails."""


class VerificationError(Exception):
    """A module that Move or Sui refuses.

    `status` is the name of the Move status code (`STLOC_TYPE_MISMATCH_ERROR`, ...), `message` says
    what is wrong. `module` is the name of the module, `function` that of the function if the code
    of one is at fault, `offset` the index of the instruction where that is known.
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
