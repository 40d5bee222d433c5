"""The conversion of outcomes and errors to results of `tools/call`."""

import json
from typing import Any

import mcp_types as types

from nexus_tools.errors import NexusError
from nexus_tools.mcp_server.receipt import Receipt
from nexus_tools.sui.support.untrusted_text import escaped_json, one_line
from nexus_tools.tool import Failure, Outcome

_MAX_DETAIL = 2_000


def call_result(outcome: Outcome) -> types.CallToolResult:
    """Return the result of a call with an outcome.

    The structured content of a variant is `{variant: {port: value}}`, and its text is the same
    JSON. An `err…` variant is an error that matches the output schema. A failure has no structured
    content, because it has no schema.
    """
    if isinstance(outcome, Failure):
        return _error(f"{outcome.reason.value}: {one_line(outcome.detail, _MAX_DETAIL)}")
    return document_result(outcome.as_json(), is_error=outcome.is_error)


def error_result(error: NexusError) -> types.CallToolResult:
    """Return the result of a failed request, with a separate line for each invalid location."""
    places = [
        f"- {failure.get('pointer') or 'the root'}: {failure.get('message', '')}"
        for failure in error.details.get("failures", ())
    ]
    lines = [f"{error.code}: {error}", *places]
    return _error("\n".join(one_line(line, _MAX_DETAIL) for line in lines))


def with_receipt(result: types.CallToolResult, receipt: Receipt) -> types.CallToolResult:
    """Return the result with the cost of the call in `_meta`, if the call paid."""
    meta = receipt.meta()
    return result if meta is None else result.model_copy(update={"meta": meta})


def _error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(text)], is_error=True)


def document_result(document: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    """Return a document as structured content, and as JSON text."""
    return types.CallToolResult(
        content=[_text(escaped_json(json.dumps(document, ensure_ascii=False)))],
        structured_content=document,
        is_error=is_error,
    )


def _text(text: str) -> Any:
    return types.TextContent(type="text", text=text)
