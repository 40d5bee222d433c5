"""The state that all procedures share."""

from collections.abc import AsyncGenerator, Callable

from google.protobuf.descriptor import Descriptor
from msgspec import Struct, field

from nexus_tools.sui.localnet.http import RequestHead
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.shared_frames import SharedFrames
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import SUI_PACKAGE, Message, Messages
from nexus_tools.sui.support.allowed_sources import AllowedSources


class Backend(Struct, frozen=True):
    """The served node, and the objects that procedures need to serve it."""

    node: Node
    messages: Messages
    limits: Limits
    json: JsonRenderer
    sources: AllowedSources = AllowedSources()
    subscriptions: set[object] = field(default_factory=set)
    frames: SharedFrames = field(default_factory=SharedFrames)

    def refusal(self, head: RequestHead) -> str | None:
        """Return the reason to refuse a request, which a web page may have sent, or None.

        Do not call this method for native gRPC, which a web page cannot send.
        """
        return self.sources.refusal(head.host, head.headers.get("origin"))

    def descriptor(self, name: str) -> Descriptor:
        """Return the descriptor of a message of `sui.rpc.v2`."""
        return self.messages.descriptor(f"{SUI_PACKAGE}.{name}")


UnaryHandler = Callable[[Backend, Message, Message], None]
"""A function that serves a unary call.

The function receives the request and fills the empty response.
"""

StreamingHandler = Callable[[Backend, Message, type[Message]], AsyncGenerator[bytes]]
"""A function that serves a streaming call. The function yields the bytes of response messages."""
