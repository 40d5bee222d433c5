"""Small pieces of HTML that occur many times on a page, such as an ID with its link.

Templates call these functions like macros. A function takes a tenth of the time of a macro, and the
page of a list has hundreds of pieces. A cached result depends only on the arguments.
"""

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace

from markupsafe import Markup, escape

from nexus_tools.explorer.formatting import (
    breakable,
    clean,
    in_words,
    iso,
    number,
    path_part,
    relative,
    short_id,
    status_kind,
    utc_seconds,
)
from nexus_tools.index import IndexedInvocation
from nexus_tools.sui.support import units
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

_CACHED = 4_096
_MAX_LEADER = 32

Id = Address | Digest | str
"""An ID, an address, or a digest."""


def _html(text: str) -> Markup:
    """Mark a text as HTML. The caller escapes all values in it."""
    return Markup(text)  # noqa: S704 - see above


def copy(value: object, label: str = "Copy") -> Markup:
    """Return a button that copies a text. The script shows it."""
    title = escape(label)
    return _html(
        f'<button class="copy" type="button" hidden data-copy="{escape(str(value))}"'
        f' aria-label="{title}" title="{title}"><span aria-hidden="true"></span></button>'
    )


@lru_cache(_CACHED, typed=True)  # an address and a digest may have the same bytes
def shown_id(value: Id, href: str | None = None, kind: str = "address") -> Markup:
    """Return an ID, shortened, with a link and a button that copies the whole value."""
    title, short = escape(str(value)), escape(short_id(value))
    code = f"<code>{short}</code>"
    if href is None:
        shown = f'<code title="{title}">{short}</code>'
    else:
        shown = f'<a href="{escape(href)}" title="{title}">{code}</a>'
    return _html(
        f'<span class="id">{shown}{copy(value, f"Copy the {kind} {short_id(value)}")}</span>'
    )


def _linked(path: str, kind: str) -> Callable[[Id], Markup]:
    """Return a function that returns an ID with a link to its page."""
    return lambda value: shown_id(value, f"{path}{value}", kind)


_leader_id = _linked("/leaders/", "ID of the leader")


def leaders(name_of: Callable[[Address], str | None]) -> Callable[[Address], Markup]:
    """Return a function that returns the link of a leader, with its name if `name_of` knows it."""

    def leader(value: Address) -> Markup:
        name = name_of(value)
        if not name:
            return _leader_id(value)
        shown = f"<bdi>{escape(clean(name, _MAX_LEADER))}</bdi>"
        whole = escape(str(value))
        return _html(f'<a href="/leaders/{whole}" title="{whole}">{shown}</a>')

    return leader


@lru_cache(_CACHED)
def _named(page: str, kind: str, fqn: str | None) -> Markup:
    if not fqn:
        return _html(f'<span class="muted">unknown {kind}</span>')
    return _html(f'<a class="fqn" href="/{page}/{escape(path_part(fqn))}">{breakable(fqn)}</a>')


def tool(fqn: str | None) -> Markup:
    """Return the link of a tool. The FQN is None if its registration is older than the index."""
    return _named("tools", "tool", fqn)


def workflow(fqn: str | None) -> Markup:
    """Return the link of a workflow. The FQN is None if it is older than the index."""
    return _named("workflows", "workflow", fqn)


def sui(mist: int) -> Markup:
    """Return an amount in SUI."""
    return _html(f'<span class="amount" title="{number(mist)} MIST">{units.sui(mist)}</span>')


def times(now_ms: int) -> Callable[[int | None], Markup]:
    """Return a function that returns a time relative to now, with the whole time as its title."""

    def time(time_ms: int | None) -> Markup:
        if not time_ms:
            return _html('<span class="muted">never</span>')
        absolute = f'datetime="{iso(time_ms)}" title="{utc_seconds(time_ms)}"'
        return _html(f"<time {absolute}>{relative(time_ms, now_ms)}</time>")

    return time


def status(value: object) -> Markup:
    """Return a state or an outcome. The style sheet shows a symbol beside its color."""
    return _html(f'<span class="status {status_kind(value)}">{escape(in_words(value))}</span>')


def outcome(item: IndexedInvocation) -> Markup:
    """Return the outcome of an invocation, which may be open."""
    return status(item.outcome or "open")


FRAGMENTS = SimpleNamespace(
    copy=copy,
    id=shown_id,
    account=_linked("/accounts/", "address"),
    leaders=leaders,
    invocation=_linked("/invocations/", "ID of the invocation"),
    execution=_linked("/executions/", "ID of the execution"),
    schedule=_linked("/schedules/", "ID of the schedule"),
    transaction=_linked("/transactions/", "digest"),
    tool=tool,
    workflow=workflow,
    sui=sui,
    times=times,
    status=status,
    outcome=outcome,
)
"""The functions for templates."""
