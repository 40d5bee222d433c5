"""Moving the clock of a localnet, through the administrative service that its port offers."""

from nexus_tools.client import Network
from nexus_tools.client.connection import Connection

_ADVANCE_CLOCK = "/sui.forking.v1alpha.ForkingService/AdvanceClock"


async def move_clock(network: Network, duration_ms: int) -> int:
    """Let time pass; returns the time then, in ms since 1970.

    Raises `node_unreachable`, and `node_unsupported` for a network whose clock cannot be moved.
    """
    from grpclib.client import Channel, UnaryUnaryMethod  # noqa: PLC0415 - when it is needed

    from nexus_tools.localnet.rpc.messages import load_messages  # noqa: PLC0415

    procedure = load_messages().procedures[_ADVANCE_CLOCK]
    endpoint = network.endpoint()
    async with Channel(endpoint.host, endpoint.port, ssl=endpoint.tls or None) as channel:
        method = UnaryUnaryMethod(channel, procedure.path, procedure.request, procedure.response)
        request = procedure.request(duration_ms=duration_ms)
        response = await Connection(network).call(method, request)
    return int(response.timestamp_ms)
