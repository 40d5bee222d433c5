"""The names of tools in systems that do not allow the dots and the `@` of an FQN."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from nexus_tools.export.systems import MAX_NAME_LENGTHS
from nexus_tools.tool import ToolFqn

# Eight digits prevent accidental collisions. Longer hashes are for names that collide on purpose.
_DIGITS = (0, 8, 16, 32)


def export_names(fqns: Iterable[ToolFqn], system: str) -> dict[ToolFqn, str]:
    """Return the name of each tool, independent of the order of the tools.

    `xyz.example.math.add@1` becomes `xyz_example_math_add_v1`. Names that are too long are cut and
    end in eight hexadecimal digits of the FQN's SHA-256. Names that would be equal also end in
    digits of the hash. For `mcp`, our MCP server lists the tools under these names. To find the
    tool for a name, look up the name in this table. Do not parse the name.
    """
    longest = MAX_NAME_LENGTHS[system]
    unique_fqns = list(dict.fromkeys(fqns))
    names: dict[ToolFqn, str] = {}
    for digits in _DIGITS:
        missing = [fqn for fqn in unique_fqns if fqn not in names]
        candidates = {fqn: _name(fqn, digits, system) for fqn in missing}
        uses = Counter(candidates.values())
        names |= {
            f: name for f, name in candidates.items() if uses[name] == 1 and len(name) <= longest
        }
    return {fqn: names[fqn] for fqn in unique_fqns}


def _name(fqn: ToolFqn, digits: int, system: str) -> str:
    """Return a plain name, or a name with digits of a hash.

    A name with digits differs from all plain names, because those end in `v` and a number.
    """
    plain = f"{fqn.unversioned.replace('.', '_')}_v{fqn.version}"
    if not digits:
        return mcp_name(fqn) if system == "mcp" else plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:digits]
    return f"{plain[: MAX_NAME_LENGTHS[system] - digits - 1]}_{digest}"


# --- MCP, which lists tools page by page

MAX_MCP_NAME = MAX_NAME_LENGTHS["mcp"]
_MCP_DIGITS = 16


def mcp_name(fqn: ToolFqn, domain: str | None = None) -> str:
    """Return the MCP name of a tool, relative to a `domain` that contains all listed tools.

    `xyz.example.math.add@1` becomes `xyz_example_math_add_v1`, and in the domain `xyz.example` it
    becomes `math_add_v1`. The name of an FQN does not depend on the other tools in the list, and no
    two FQNs share a name. If two FQNs shared a name, an attacker could register a tool that is
    called instead of another tool. Labels are joined by the first of the separators `_`, `-` and
    `--` that they do not contain. If each separator would be ambiguous, or if the name is too long,
    the name ends with 16 hexadecimal digits of the FQN's SHA-256. If necessary, the start of this
    name is cut off. Fewer digits would allow deliberate collisions.
    """
    labels = [*_labels(fqn, domain), f"v{fqn.version}"]
    separator = _separator(labels)
    plain = (separator or "_").join(labels)
    if separator is not None and len(plain) <= MAX_MCP_NAME:
        return plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:_MCP_DIGITS]
    return f"{_end_of(labels, separator or '_', MAX_MCP_NAME - _MCP_DIGITS - 1)}_{digest}"


def _labels(fqn: ToolFqn, domain: str | None) -> list[str]:
    """Return the labels of an FQN after the domain."""
    prefix = f"{domain}."
    return fqn.unversioned.removeprefix(prefix).split(".")


def _separator(labels: list[str]) -> str | None:
    """Return a separator that keeps joined labels distinguishable, or None.

    The version contains no separator, so it shows which separator a name uses. For example,
    `a-b_c_v1` consists of the labels `a-b` and `c`, and `a-b_c-v1` of the labels `a` and `b_c`.
    """
    joined = ".".join(labels)
    if "_" not in joined:
        return "_"
    if "-" not in joined:
        return "-"
    return None if "--" in joined or "-." in joined else "--"


def _end_of(labels: list[str], separator: str, length: int) -> str:
    """Return as many of the last labels as fit. If the name is too long, cut its start."""
    last_labels = list(labels)
    while (
        len(last_labels) > 2 and len(separator.join(last_labels)) > length
    ):  # keep at least the name and the version
        del last_labels[0]
    return separator.join(last_labels)[-length:].lstrip("_-")
