"""The fully qualified name (FQN) of a tool: `domain.name@version`.

The part before the `@` consists of at least three labels, separated by dots. The last label is the
name, and the other labels are the domain. A label is `[a-z][a-z0-9_-]+`. The version is a `u32`
from 1, in decimal without leading zeros, so that each tool has only one spelling. The Move module
`fqn` accepts exactly the same strings.
"""

import re
from dataclasses import dataclass

from nexus_tools.errors import ValidationError

MAX_BYTES = 200
MAX_VERSION = 2**32 - 1

# The pattern has a single quantifier, so matching untrusted input takes linear time.
LABEL = re.compile(r"[a-z][a-z0-9_-]+", re.ASCII)
VERSION = re.compile(r"[1-9][0-9]*", re.ASCII)
MIN_LABELS = 3
_HINT = "Write an FQN such as xyz.example.math.add@1."


@dataclass(frozen=True, slots=True, order=True)
class ToolFqn:
    """The name of one version of a tool. `domain` has at least two labels."""

    domain: str
    name: str
    version: int

    @classmethod
    def parse(cls, text: str) -> "ToolFqn":
        """Parse `domain.name@version`, or raise `ValidationError` with code `fqn_invalid`."""
        if len(text) > MAX_BYTES:
            raise _invalid(text[:40] + "…", f"the name is longer than {MAX_BYTES} bytes")
        dotted, at, version = text.partition("@")
        if not at:
            raise _invalid(text, "it has no version: '@' is missing")
        labels = dotted.split(".")
        for label in labels:
            if not LABEL.fullmatch(label):
                raise _invalid(text, _label_problem(label))
        if len(labels) < MIN_LABELS:
            raise _invalid(text, "the domain before the name needs at least two labels")
        return cls(".".join(labels[:-1]), labels[-1], _parse_version(text, version))

    @property
    def unversioned(self) -> str:
        """The name without its version, `domain.name`, which all versions of the tool share."""
        return f"{self.domain}.{self.name}"

    def __str__(self) -> str:
        return f"{self.unversioned}@{self.version}"


def _parse_version(text: str, version: str) -> int:
    if not VERSION.fullmatch(version):
        raise _invalid(text, f"expected a version that is an integer from 1, got {version!r}")
    if len(version) > len(str(MAX_VERSION)) or int(version) > MAX_VERSION:
        raise _invalid(text, f"the version {version} is larger than {MAX_VERSION}")
    return int(version)


def _label_problem(label: str) -> str:
    if len(label) <= 1:
        return f"the label {label!r} is shorter than two characters"
    rule = "must start with a letter a-z and contain only a-z, 0-9, '_' and '-'"
    return f"the label {label!r} {rule}"


def _invalid(text: str, problem: str) -> ValidationError:
    return ValidationError("fqn_invalid", f"{text!r} is not a valid FQN: {problem}", hint=_HINT)
