"""The search field of every page: it leads to the page of an ID or name, or to a list of tools."""

import re
from http import HTTPStatus
from typing import Annotated

from msgspec import Meta

from nexus_tools.explorer.context import Page, PageContext, PageRedirect, url_with
from nexus_tools.explorer.formatting import path_part
from nexus_tools.index import find_execution, find_schedule, find_tool_fqn, find_workflow
from nexus_tools.index.api import Parameters
from nexus_tools.sui.types.address import Address

_ID = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_DIGEST = re.compile(r"[1-9A-HJ-NP-Za-km-z]{43,44}", re.ASCII)


class SearchParameters(Parameters, frozen=True, kw_only=True):
    """The parameter of the search."""

    q: Annotated[str, Meta(max_length=200)] = ""


async def search(context: PageContext) -> Page:
    """Redirect to the page that the search text names."""
    text = context.parameters(SearchParameters).q.strip()
    raise PageRedirect(_target(context, text), HTTPStatus.SEE_OTHER)


def _target(context: PageContext, text: str) -> str:
    if _ID.fullmatch(text):
        return _id_page(context, Address.parse_whole(text.lower()))
    if _DIGEST.fullmatch(text):
        return f"/transactions/{text}"
    if "@" in text and context.index.tool(text) is not None:
        return f"/tools/{path_part(text)}"
    return url_with("/tools", {"q": text})


def _id_page(context: PageContext, value: Address) -> str:
    """Return the page of an object that the index knows, or else of an account."""
    connection = context.connection
    known = {
        "invocations": context.index.invocation(value),
        "leaders": context.index.leader(value),
        "workflows": find_workflow(connection, value),
        "executions": find_execution(connection, value),
        "schedules": find_schedule(connection, value),
    }
    found = [page for page, item in known.items() if item is not None]
    if found:
        return f"/{found[0]}/{value}"
    fqn = find_tool_fqn(connection, value)
    return f"/accounts/{value}" if fqn is None else f"/tools/{path_part(fqn)}"
