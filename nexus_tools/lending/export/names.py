"""Names of tools in systems that cannot have an FQN's dots and its `@`."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from nexus_tools.lending.export.systems import LONGEST_NAMES
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


def mcp_name(fqn: ToolFqn) -> str:
    """The name of a tool: its FQN with `_` for dots and `_v` for `@`, as in `xyz_math_add_v1`.

    One FQN has one name whatever else is listed, and no two have the same: a name that is too
    long, or whose labels have a `_` of their own, ends in sixteen digits of the FQN's SHA-256:
    fewer could be had by somebody who registers a tool to be called in another one's place.
    """
    plain = f"{fqn.unversioned.replace('.', '_')}_v{fqn.version}"
    if len(plain) <= MAX_MCP_NAME and "_" not in fqn.unversioned:
        return plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:_MCP_DIGITS]
    return f"{plain[: MAX_MCP_NAME - _MCP_DIGITS - 1]}_{digest}"
