"""The rule by which a bridged tool gets its FQN, and how tools with one FQN get distinct ones."""

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
    """How borrowed tools are named: `<domain>.<label>….<name>@<version>`.

    Without a `domain` it is `local.<system>`: a name for use on one machine.
    """

    domain: str | None = None
    version: int = 1

    def known_fqn(self, system: str, *labels: str) -> ToolFqn | None:
        """Return the FQN of a tool that is refused, or None if there is no such FQN."""
        try:
            return self.fqn(system, *labels)
        except ValidationError:
            return None

    def fqn(self, system: str, *labels: str) -> ToolFqn:
        """The FQN of a tool that its system calls by `labels`, the last of them its name.

        Raises `ValidationError` with code `fqn_invalid` if the domain is none.
        """
        domain = self.domain or f"local.{system}"
        return ToolFqn.parse(".".join([domain, *map(label, labels)]) + f"@{self.version}")


def label(text: str) -> str:
    """Return a label of an FQN for a foreign name: lower case, `-` for all other characters.

    It starts with a letter (`t-` is added), has at least two characters (`-` is added), and at most
    60: a longer one is cut, and eight digits of the name's SHA-256 follow. A name without any
    letter or digit of ASCII is `t-` and these digits.
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
    """Return the FQN for each pair of an FQN and the foreign labels that it was made of.

    Where different labels lead to one FQN, the tool that is called exactly so keeps it. The others
    end in eight digits of the SHA-256 of their labels, in whatever order the pairs are given.
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


def collisions(fqns: Iterable[ToolFqn]) -> dict[ToolFqn, int]:
    """The FQNs that stand more than once, and how often."""
    counts: defaultdict[ToolFqn, int] = defaultdict(int)
    for fqn in fqns:
        counts[fqn] += 1
    return {fqn: count for fqn, count in counts.items() if count > 1}
