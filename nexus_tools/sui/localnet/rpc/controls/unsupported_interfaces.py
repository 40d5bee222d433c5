"""Errors for clients that use Sui's other interfaces, JSON-RPC and GraphQL.

Each client gets the error in the format of its interface and shows it to its user. The HTTP status
is 200, although the body contains an error. Sources: jsonrpc.org/specification, sections 5.1 and 6;
graphql.github.io/graphql-over-http, section 6.4.1.
"""

import json
from typing import Any

_METHOD_NOT_FOUND = -32601
_REASON = (
    "this node speaks gRPC (`sui.rpc.v2`), not {}: use SuiGrpcClient of @mysten/sui, the client for"
    " gRPC of pysui, SuiClient of nexus_tools, or grpcurl"
)


def unsupported_interface_error(body: bytes) -> Any | None:
    """Return a JSON error for a JSON-RPC or GraphQL request, or None for any other request."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(request, list) and request and all(map(_is_json_rpc, request)):
        return [_json_rpc_error(call) for call in request]
    if _is_json_rpc(request):
        return _json_rpc_error(request)
    if isinstance(request, dict) and isinstance(request.get("query"), str):
        return {"errors": [{"message": _REASON.format("GraphQL")}]}
    return None


def _is_json_rpc(request: Any) -> bool:
    return isinstance(request, dict) and "jsonrpc" in request


def _json_rpc_error(request: dict[str, Any]) -> dict[str, Any]:
    error = {"code": _METHOD_NOT_FOUND, "message": _REASON.format("JSON-RPC")}
    return {"jsonrpc": "2.0", "id": request.get("id"), "error": error}
