"""The errors, except aborts, with which native functions end a transaction."""

from nexus_tools.sui.localnet.vm import NativeLimit


class UnsupportedNative(Exception):  # noqa: N818 - the name states the cause
    """A feature that the localnet does not support (`FEATURE_NOT_YET_SUPPORTED`)."""

    def __init__(self, name: str) -> None:
        super().__init__(f"not supported by the localnet: {name}")
        self.name = name


class MalformedArgument(Exception):  # noqa: N818 - the name states the cause
    """An argument whose value or bytes do not have the type that the native function expects."""


class LimitExceeded(NativeLimit):
    """A transaction with more ids, transfers, events or children than the protocol allows.

    On Sui, this is the VM error MEMORY_LIMIT_EXCEEDED, which is a `MOVE_PRIMITIVE_RUNTIME_ERROR` in
    the effects.
    """
