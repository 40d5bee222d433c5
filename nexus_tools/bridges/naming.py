"""The naming of bridged tools: their FQNs, and distinct FQNs for tools that would share one."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn

MAX_LABEL = 60

_OTHER = re.compile(r"[^a-z0-9_-]+")
_LETTER_OR_DIGIT = re.compile(r"[a-z0-9]")
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Naming:
    """The FQN scheme of bridged tools: `<domain>.<label>….<name>@<version>`.

    Without a `domain`, the domain is `local.<system>`, for use on one machine.
    """

    domain: str | None = None
    version: int = 1

    def known_fqn(self, system: str, *labels: str) -> ToolFqn | None:
        """Return the FQN of a refused tool, or None if its labels do not make a valid FQN."""
        try:
            return self.fqn(system, *labels)
        except ValidationError:
            return None

    def fqn(self, system: str, *labels: str) -> ToolFqn:
        """Return the FQN of a tool with these `labels`. The last label is the tool's name.

        Raises:
            ValidationError: with code `fqn_invalid` if the domain is not valid.
        """
        domain = self.domain or f"local.{system}"
        return ToolFqn.parse(".".join([domain, *map(label, labels)]) + f"@{self.version}")


def label(text: str) -> str:
    """Return the FQN label for a foreign name: lower case, with `-` for all other characters.

    A label starts with a letter (else `t-` is prepended) and has at least two characters (else `-`
    is appended) and at most 60. A longer label is truncated and ends with eight hexadecimal digits
    of the name's SHA-256. A name without any ASCII letter or digit becomes `t-` and eight digits of
    the hash. For example, `Get Weather!` becomes `get-weather`, and `7` becomes `t-7`.
    """
    plain = _OTHER.sub("-", text.lower()).strip("-")
    if not _LETTER_OR_DIGIT.search(plain):
        return f"t-{_digits(text)}"
    if not plain[0].isalpha():
        plain = f"t-{plain}"
    if len(plain) > MAX_LABEL:
        return _with_digits(plain, text)
    return plain if len(plain) > 1 else f"{plain}-"


def distinct_fqns(named: Iterable[tuple[ToolFqn, tuple[str, ...]]]) -> list[ToolFqn]:
    """Return a distinct FQN for each pair of an FQN and its foreign labels.

    If different labels map to the same FQN, the tool whose labels equal the FQN keeps the FQN. The
    other FQNs end in eight hexadecimal digits of the SHA-256 of their labels. The order of the
    pairs does not matter.
    """
    pairs = list(named)
    labels_of: defaultdict[ToolFqn, set[tuple[str, ...]]] = defaultdict(set)
    for fqn, labels in pairs:
        labels_of[fqn].add(labels)
    return [
        fqn if len(labels_of[fqn]) == 1 or _is_exact(fqn, labels) else _distinct(fqn, labels)
        for fqn, labels in pairs
    ]


def _is_exact(fqn: ToolFqn, labels: tuple[str, ...]) -> bool:
    return f".{fqn.unversioned}".endswith("." + ".".join(labels)) and fqn.name == labels[-1]


def _distinct(fqn: ToolFqn, labels: tuple[str, ...]) -> ToolFqn:
    return replace(fqn, name=_with_digits(fqn.name, "\0".join(labels)))


def _with_digits(plain: str, text: str) -> str:
    return f"{plain[: MAX_LABEL - _DIGITS - 1]}-{_digits(text)}"


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def duplicate_fqns(fqns: Iterable[ToolFqn]) -> dict[ToolFqn, int]:
    """Return the FQNs that occur more than once, with their counts."""
    counts: defaultdict[ToolFqn, int] = defaultdict(int)
    for fqn in fqns:
        counts[fqn] += 1
    return {fqn: count for fqn, count in counts.items() if count > 1}
