"""The one way in which reading a module file fails."""


class MalformedModule(Exception):  # noqa: N818 - it says what the bytes are
    """Bytes that are no Move module; `offset` is where in the file that was noticed."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at byte {offset}")
        self.message = message
        self.offset = offset
