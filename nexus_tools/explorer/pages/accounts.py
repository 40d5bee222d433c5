"""The page of an account: its tools, and the invocations that it requested."""

from nexus_tools.errors import UnreachableError
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.index import IndexedToolFilter
from nexus_tools.sui.types.address import Address

_TOOLS = 30
_SHOWN = 10


async def show_account(context: PageContext) -> Page:
    """Show what an account owns and requested."""
    address = Address.parse_whole(context.path["address"])
    index = context.index
    values = {
        "address": address,
        "balance": await _balance(context, address),
        "tools": index.tools(IndexedToolFilter(owner=address), limit=_TOOLS),
        "invocations": index.invocations(requester=address, limit=_SHOWN),
        "workflows": index.workflows(address, limit=_SHOWN),
        "executions": index.executions(owner=address, limit=_SHOWN),
        "schedules": index.schedules(owner=address, limit=_SHOWN),
    }
    return Page("account.html", f"Account {address}", values)


async def _balance(context: PageContext, address: Address) -> int | None:
    try:
        return await context.chain.balance(address)
    except UnreachableError:
        return None
