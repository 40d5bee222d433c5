"""How natives end a transaction other than by aborting."""

from nexus_tools.sui.localnet.vm import NativeLimit


class UnsupportedNative(Exception):  # noqa: N818 - it says what was called
    """A native is asked for what it does not do: `FEATURE_NOT_YET_SUPPORTED`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"not supported by the localnet: {name}")
        self.name = name


class MalformedArgument(Exception):  # noqa: N818 - it says what was given
    """A value is not of the form, or bytes not of the type, that the native reads."""


class LimitExceeded(NativeLimit):
    """More ids, transfers, events or children than the protocol allows one transaction.

    On a real network this is the VM's MEMORY_LIMIT_EXCEEDED, which the effects show as a
    `MOVE_PRIMITIVE_RUNTIME_ERROR`.
    """
