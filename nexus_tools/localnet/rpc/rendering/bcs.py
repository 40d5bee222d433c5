"""BCS bytes with the name of their type (`sui.rpc.v2.Bcs`), and times."""

from nexus_tools.localnet.rpc.messages import Message


def render_bcs(message: Message, name: str, value: bytes) -> None:
    """Both fields."""
    message.name = name
    message.value = bytes(value)


def render_time(message: Message, milliseconds: int) -> None:
    """A `google.protobuf.Timestamp` of milliseconds since 1970."""
    message.seconds, rest = divmod(milliseconds, 1000)
    message.nanos = rest * 1_000_000
