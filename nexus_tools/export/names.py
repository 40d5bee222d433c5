"""Names of tools in systems that cannot have an FQN's dots and its `@`."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from nexus_tools.export.systems import LONGEST_NAMES
from nexus_tools.tool import ToolFqn

# Eight digits tell names apart that nobody made to be alike; more are for those that somebody did.
_DIGITS = (0, 8, 16, 32)


def export_names(fqns: Iterable[ToolFqn], system: str) -> dict[ToolFqn, str]:
    """The name of each tool, the same in whatever order the tools are given.

    `xyz.example.math.add@1` is `xyz_example_math_add_v1`. Names that are too long are cut and end
    in eight digits of the FQN's SHA-256, as do all those that would be the same name; for `mcp` the
    names are those under which our MCP server lists the tools. A name is looked up in this table to
    find its tool, never taken apart.
    """
    longest = LONGEST_NAMES[system]
    wanted = list(dict.fromkeys(fqns))
    names: dict[ToolFqn, str] = {}
    for digits in _DIGITS:
        missing = [fqn for fqn in wanted if fqn not in names]
        tried = {fqn: _name(fqn, digits, system) for fqn in missing}
        uses = Counter(tried.values())
        names |= {f: name for f, name in tried.items() if uses[name] == 1 and len(name) <= longest}
    return {fqn: names[fqn] for fqn in wanted}


def _name(fqn: ToolFqn, digits: int, system: str) -> str:
    """Names with digits end otherwise than plain ones: no version is made of hexadecimal digits."""
    plain = f"{fqn.unversioned.replace('.', '_')}_v{fqn.version}"
    if not digits:
        return mcp_name(fqn) if system == "mcp" else plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:digits]
    return f"{plain[: LONGEST_NAMES[system] - digits - 1]}_{digest}"


# --- MCP, where tools are listed page by page

MAX_MCP_NAME = LONGEST_NAMES["mcp"]
_MCP_DIGITS = 16


def mcp_name(fqn: ToolFqn, domain: str | None = None) -> str:
    """The name of a tool, in a list of tools that are all in `domain` or below it.

    `xyz.example.math.add@1` is `xyz_example_math_add_v1`, and in the domain `xyz.example`
    `math_add_v1`. One FQN has one name whatever else is listed, and no two have the same, for
    somebody could register a tool to be called in another one's place. So labels are joined by what
    they do not have: `_`, else `-`, else `--`. Where each would be ambiguous, or the name too long,
    its end is kept, and sixteen digits of the FQN's SHA-256 follow: fewer could be met on purpose.
    """
    labels = [*_labels(fqn, domain), f"v{fqn.version}"]
    separator = _separator(labels)
    plain = (separator or "_").join(labels)
    if separator is not None and len(plain) <= MAX_MCP_NAME:
        return plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:_MCP_DIGITS]
    return f"{_end_of(labels, separator or '_', MAX_MCP_NAME - _MCP_DIGITS - 1)}_{digest}"


def _labels(fqn: ToolFqn, domain: str | None) -> list[str]:
    """The labels behind the domain."""
    prefix = f"{domain}."
    return fqn.unversioned.removeprefix(prefix).split(".")


def _separator(labels: list[str]) -> str | None:
    """What joins labels so that they can be told apart again; None if nothing does.

    The version, which ends in no such character, tells the three kinds of names apart: `a-b_c_v1`
    is made of two labels, `a-b_c-v1` of `a` and `b_c`.
    """
    joined = ".".join(labels)
    if "_" not in joined:
        return "_"
    if "-" not in joined:
        return "-"
    return None if "--" in joined or "-." in joined else "--"


def _end_of(labels: list[str], separator: str, length: int) -> str:
    """As many of the last labels as there is room for; of a name that is too long its end."""
    kept = list(labels)
    while len(kept) > 2 and len(separator.join(kept)) > length:  # the name and the version
        del kept[0]
    return separator.join(kept)[-length:].lstrip("_-")
