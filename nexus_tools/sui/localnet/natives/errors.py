"""The errors by which natives end a transaction, except aborts."""

from nexus_tools.sui.localnet.vm import NativeLimit


class UnsupportedNative(Exception):  # noqa: N818 - the name states the cause
    """A feature of a native that the localnet does not support: `FEATURE_NOT_YET_SUPPORTED`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"not supported by the localnet: {name}")
        self.name = name


class MalformedArgument(Exception):  # noqa: N818 - the name states the cause
    """A value has another form, or bytes another type, than the native expects."""


class LimitExceeded(NativeLimit):
    """More ids, transfers, events or children than the protocol allows for one transaction.

    On a real network this is the VM's MEMORY_LIMIT_EXCEEDED, which the effects show as a
    `MOVE_PRIMITIVE_RUNTIME_ERROR`.
    """
