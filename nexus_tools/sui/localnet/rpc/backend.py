"""What every procedure works with."""

from collections.abc import AsyncGenerator, Callable

from google.protobuf.descriptor import Descriptor
from msgspec import Struct, field

from nexus_tools.sui.localnet.http import Head
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.shared_frames import SharedFrames
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import SUI_PACKAGE, Message, Messages
from nexus_tools.sui.support.allowed_sources import AllowedSources


class Backend(Struct, frozen=True):
    """The node that is served, and what it is served with."""

    node: Node
    messages: Messages
    limits: Limits
    json: JsonRenderer
    sources: AllowedSources = AllowedSources()
    subscriptions: set[object] = field(default_factory=set)
    frames: SharedFrames = field(default_factory=SharedFrames)

    def refusal(self, head: Head) -> str | None:
        """Return why a request is refused that a web page may have sent, or None.

        Native gRPC is not checked: no page can send it.
        """
        return self.sources.refusal(head.host, head.headers.get("origin"))

    def descriptor(self, name: str) -> Descriptor:
        """The descriptor of a message of `sui.rpc.v2`."""
        return self.messages.descriptor(f"{SUI_PACKAGE}.{name}")


Unary = Callable[[Backend, Message, Message], None]
"""Serves a request by filling the response, which is given empty."""

Streaming = Callable[[Backend, Message, type[Message]], AsyncGenerator[bytes]]
"""Serves a request with messages of the given class, as bytes."""
