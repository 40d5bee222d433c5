"""The store as an ASGI application: authenticate, find the operation, answer, and never break."""

import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nexus_tools.bridges.unstract.object_store.ask import Ask
from nexus_tools.bridges.unstract.object_store.authentication import Credentials, authenticate
from nexus_tools.bridges.unstract.object_store.body import Body
from nexus_tools.bridges.unstract.object_store.bucket_operations import XML
from nexus_tools.bridges.unstract.object_store.documents import error_document
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.head import Head
from nexus_tools.bridges.unstract.object_store.objects import Objects
from nexus_tools.bridges.unstract.object_store.operations import operation_of
from nexus_tools.bridges.unstract.object_store.uploads import Uploads

_log = structlog.get_logger("nexus_tools.bridges.unstract")


class Service:
    """Answers requests about the objects of one store."""

    def __init__(self, credentials: Credentials, objects: Objects, uploads: Uploads) -> None:
        self._credentials = credentials
        self._objects = objects
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        stream = request.stream()
        request_id = secrets.token_hex(8)
        try:
            response = await self._answer(request, stream)
        except ClientDisconnect:
            return
        except FaultError as fault:
            response = _fault_response(fault, request, request_id)
            if not await self._drain(request, stream):
                response.headers["connection"] = "close"
        except Exception:  # noqa: BLE001 - the edge of a server
            _log.exception("object_store_broke", method=request.method, path=request.url.path)
            broke = FaultError("InternalError", "the store broke", headers={"connection": "close"})
            response = _fault_response(broke, request, request_id)
        response.headers["x-amz-request-id"] = request_id
        await response(scope, receive, send)

    async def _answer(self, request: Request, stream: AsyncIterator[bytes]) -> Response:
        head = Head.of(dict(request.scope))
        authenticated = authenticate(head, self._credentials, datetime.now(UTC))
        parameters = head.parameters()
        bucket, key = head.bucket_and_key()
        operation = operation_of(head, parameters, bucket, key)
        body = Body(stream, head, authenticated)
        return await operation(
            Ask(head, parameters, bucket, key, body, self._objects, self._uploads)
        )

    async def _drain(self, request: Request, stream: AsyncIterator[bytes]) -> bool:
        """Read what a client still sends, so that it comes to read the answer; says if that is all.

        One that waits for `100 Continue` sends nothing until the body is read.
        """
        if "expect" in request.headers:
            return False
        left = self._objects.quota.max_bytes
        with suppress(ClientDisconnect, RuntimeError):
            async for part in stream:
                left -= len(part)
                if left < 0:
                    return False
            return True
        return False


def _fault_response(fault: FaultError, request: Request, request_id: str) -> Response:
    # As it was sent, percent-encoded: XML cannot carry every character that it may stand for.
    path = request.scope["raw_path"].decode("ascii", "replace")
    content = error_document(fault, path, request_id)
    return Response(content, fault.status, media_type=XML, headers=fault.headers)
