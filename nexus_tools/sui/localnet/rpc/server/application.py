"""The HTTP application of a node, which serves calls in any form of gRPC, and the controls."""

from collections.abc import Coroutine
from typing import Any

from nexus_tools.sui.localnet.http import Exchange
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.controls import reads_body, serve_control
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.server.call import (
    send_response,
    serve_call,
    unary_call,
    unary_response,
)
from nexus_tools.sui.localnet.rpc.server.endpoints import is_bidirectional_path
from nexus_tools.sui.localnet.rpc.server.grpc import Form, GrpcReply, GrpcRequest


class NodeApplication:
    """The application that serves all procedures and controls of a node."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._calls_in_progress = 0

    def needs_body(self, exchange: Exchange) -> bool:
        """Return whether the connection must wait for the complete body of a request.

        A refused request does not need its body, and a bidirectional call reads one message at a
        time.
        """
        backend, head = self._backend, exchange.head
        request = self._call(exchange)
        if request is None:
            return reads_body(backend, head)
        return not is_bidirectional_path(backend, head.path)

    def begin(self, exchange: Exchange) -> Coroutine[Any, Any, None] | None:
        """Respond to a complete unary call immediately, if the backlog is not full.

        For any other request, return the coroutine that responds.
        """
        backend, head = self._backend, exchange.head
        request = self._call(exchange)
        if request is None:
            return serve_control(backend, exchange)
        reply = GrpcReply(backend, request.form, exchange)
        message = request.only_message()
        call = None if message is None else unary_call(backend, head.path, head.headers)
        if message is None or call is None or not exchange.backlog.has_room:
            return self._serve(exchange, request, reply)
        target, deadline = call
        response = unary_response(target, message)
        if reply.respond(response):
            return None
        exchange.body.drop()  # free the body's memory while the response waits for the client
        exchange.keep(0 if isinstance(response, RpcError) else len(response))
        return send_response(reply, response, deadline)

    def _call(self, exchange: Exchange) -> GrpcRequest | None:
        """Return the gRPC call of a request, or None for a control or a refused web page."""
        request = GrpcRequest.of(exchange, self._backend.limits)
        if request is None or request.form is Form.NATIVE:
            return request
        return None if self._backend.refusal(exchange.head) else request

    async def _serve(self, exchange: Exchange, request: GrpcRequest, reply: GrpcReply) -> None:
        limit, head = self._backend.limits.calls, exchange.head
        if self._calls_in_progress >= limit:
            error = RpcError(
                Code.RESOURCE_EXHAUSTED,
                f"the server is busy: at most {limit} calls are served at the same time",
            )
            await reply.finish(error)
            return
        self._calls_in_progress += 1
        if is_bidirectional_path(self._backend, head.path):
            request.read_as_it_comes()
        try:
            await serve_call(self._backend, head.path, head.headers, request.receive, reply)
        finally:
            self._calls_in_progress -= 1
