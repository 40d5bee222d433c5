"""Options and notes of commands that list items of pages, newest first."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.cli.framework import Output
    from nexus_tools.registry import Page
    from nexus_tools.sui.client import Cursor, SuiClient

    ReadPage = Callable[[int, Cursor | None], Awaitable[Page["T"]]]

T = TypeVar("T")

Command = Callable[..., None]

_DEFAULT_LIMIT = 50


def page_options(noun: str) -> Callable[[Command], Command]:
    """Return a decorator that adds `--limit` and `--all`. `noun` is the plural of the items."""

    def add(command: Command) -> Command:
        limit = click.option(
            "--limit",
            type=click.IntRange(min=1),
            default=_DEFAULT_LIMIT,
            show_default=True,
            help=f"Maximum number of {noun} to list.",
        )
        everything = click.option("--all", "everything", is_flag=True, help=f"List all {noun}.")
        return limit(everything(command))

    return add


async def read_items(
    output: "Output", noun: str, read: "ReadPage[T]", *, limit: int, everything: bool
) -> "Page[T]":
    """Return a page of at most `limit` items, or all items. `noun` is the plural of the items."""
    with output.progress(f"reading {noun}"):
        page = await read(limit, None)
    if not everything:
        return page
    from nexus_tools.registry import MAX_SCANNED, Page

    items = page.items
    while page.next is not None:
        place = f"before checkpoint {page.next.checkpoint}"
        with output.progress(f"reading {noun} {place}: {len(items)} found"):
            page = await read(MAX_SCANNED, page.next)
        items += page.items
    return Page(items, None)


async def note_rest(
    output: "Output", client: "SuiClient", page: "Page[T]", noun: str, *, limit: int
) -> None:
    """Note that older items may exist, and which items or which period the page covers."""
    if page.next is None:
        return
    if len(page.items) >= limit:
        output.note(f"showing only the newest {len(page.items)}. Use --all to list all {noun}")
        return
    since = units.utc(await client.checkpoint_time_ms(page.next.checkpoint))
    output.note(
        f"showing the {noun} since {since}, because reading stopped at its limit. Use --all to list"
        f" all {noun}"
    )
