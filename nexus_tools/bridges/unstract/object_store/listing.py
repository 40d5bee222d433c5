"""One page of a listing: keys in order, rolled up at a delimiter, from a place onwards."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_KEYS = 1_000


@dataclass(slots=True)
class Page:
    """Keys and common prefixes; `last` is where the next page goes on, if there is one."""

    keys: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    last: str = ""
    is_truncated: bool = False

    def __len__(self) -> int:
        return len(self.keys) + len(self.prefixes)


def page_of(keys: Sequence[str], prefix: str, delimiter: str, after: str, limit: int) -> Page:
    """A page of sorted keys: those that begin with `prefix` and come after `after`."""
    page = Page()
    for key in keys[bisect_right(keys, after) if after else 0 :]:
        if not key.startswith(prefix):
            continue
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        common = key[: end + len(delimiter)] if end >= 0 else ""
        if common and common in (page.last, after):
            continue
        if len(page) >= limit:
            page.is_truncated = limit > 0
            break
        (page.prefixes if common else page.keys).append(common or key)
        page.last = common or key
    return page
