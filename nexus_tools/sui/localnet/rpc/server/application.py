"""What is served, whatever version of HTTP carries it: calls in any form of gRPC, and controls."""

from collections.abc import Coroutine
from typing import Any

from nexus_tools.sui.localnet.http import Exchange
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.controls import reads_body, serve_control
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.server.call import (
    send_response,
    serve_call,
    short_call,
    short_response,
)
from nexus_tools.sui.localnet.rpc.server.endpoints import is_conversation
from nexus_tools.sui.localnet.rpc.server.grpc import Form, GrpcReply, GrpcRequest


class NodeApplication:
    """All procedures and controls of a node."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._under_way = 0

    def needs_body(self, exchange: Exchange) -> bool:
        """Not to refuse what is no call, nor for the first messages of a conversation."""
        backend, head = self._backend, exchange.head
        request = self._call(exchange)
        if request is None:
            return reads_body(backend, head)
        return not is_conversation(backend, head.path)

    def begin(self, exchange: Exchange) -> Coroutine[Any, Any, None] | None:
        """Respond at once to a short call that has come whole, if there is room for that."""
        backend, head = self._backend, exchange.head
        request = self._call(exchange)
        if request is None:
            return serve_control(backend, exchange)
        reply = GrpcReply(backend, request.form, exchange)
        message = request.only_message()
        call = None if message is None else short_call(backend, head.path, head.headers)
        if message is None or call is None or not exchange.backlog.has_room:
            return self._serve(exchange, request, reply)
        found, deadline = call
        response = short_response(found, message)
        if reply.respond(response):
            return None
        exchange.body.drop()  # while its response waits, it would take room from other requests
        exchange.keep(0 if isinstance(response, RpcError) else len(response))
        return send_response(reply, response, deadline)

    def _call(self, exchange: Exchange) -> GrpcRequest | None:
        """Return the call that a request is; None for controls, and for pages that are refused."""
        request = GrpcRequest.of(exchange, self._backend.limits)
        if request is None or request.form is Form.NATIVE:
            return request
        return None if self._backend.refusal(exchange.head) else request

    async def _serve(self, exchange: Exchange, request: GrpcRequest, reply: GrpcReply) -> None:
        limit, head = self._backend.limits.calls, exchange.head
        if self._under_way >= limit:
            error = RpcError(Code.RESOURCE_EXHAUSTED, f"there are {limit} calls under way already")
            await reply.finish(error)
            return
        self._under_way += 1
        if is_conversation(self._backend, head.path):
            request.read_as_it_comes()
        try:
            await serve_call(self._backend, head.path, head.headers, request.receive, reply)
        finally:
            self._under_way -= 1
