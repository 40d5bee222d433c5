"""The one rule by which a borrowed tool gets its FQN, and how collisions are refused."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from nexus_tools.tool import ToolFqn

MAX_LABEL = 60

_OTHER = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Naming:
    """How borrowed tools are named: `<domain>.<label>….<name>@<version>`.

    Without a `domain` it is `local.<system>`: a name for use on one machine.
    """

    domain: str | None = None
    version: int = 1

    def fqn(self, system: str, *labels: str) -> ToolFqn:
        """The FQN of a tool that its system calls by `labels`, the last of them its name.

        Raises `ValidationError` with code `fqn_invalid` if the domain is none.
        """
        domain = self.domain or f"local.{system}"
        return ToolFqn.parse(".".join([domain, *map(label, labels)]) + f"@{self.version}")


def label(text: str) -> str:
    """A label of an FQN for a foreign name: lower case, `-` for what labels cannot have.

    It begins with a letter (`t-` is put before), has two characters at least (`-` is added) and 60
    at most: a longer one is cut and ends in eight digits of its SHA-256.
    """
    plain = _OTHER.sub("-", text.lower()).strip("-") or "-"
    if not plain[0].isalpha():
        plain = f"t-{plain}"
    if len(plain) > MAX_LABEL:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        plain = f"{plain[: MAX_LABEL - 9]}-{digest}"
    return plain if len(plain) > 1 else f"{plain}-"


def collisions(fqns: Iterable[ToolFqn]) -> dict[ToolFqn, int]:
    """The FQNs that stand more than once, and how often."""
    counts: defaultdict[ToolFqn, int] = defaultdict(int)
    for fqn in fqns:
        counts[fqn] += 1
    return {fqn: count for fqn, count in counts.items() if count > 1}
