"""What a package that does not compile looks for in the framework in vain.

The compiler is newer than the framework that comes with us, and so are many packages: that a name
is unknown to it may be a slip, or the age of the framework.
"""

import re

from nexus_tools.localnet.framework import FRAMEWORK_NAMES, FRAMEWORK_VERSION, Release

_MODULE = rf"'((?:{'|'.join(FRAMEWORK_NAMES.values())})::\w+)'"
_MEMBER_FIRST = re.compile(
    rf"(?:Unbound [a-z ]+'|no function ')(\w+)' (?:in|was found in the defining) module {_MODULE}"
)
_MODULE_ALONE = re.compile(rf"Unbound module:? {_MODULE}")
_SHOWN = 3


def missing_names(words: str) -> tuple[str, ...]:
    """The modules and members of the framework that the compiler's words say are not there."""
    members = (f"{module}::{member}" for member, module in _MEMBER_FIRST.findall(words))
    return tuple(dict.fromkeys([*_MODULE_ALONE.findall(words), *members]))


def hint_at_another_framework(words: str, release: Release) -> str:
    """What to do about names that a framework does not have; nothing, if it has them all."""
    names = missing_names(words)
    if not names:
        return ""
    rest = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    if release.name == FRAMEWORK_VERSION:
        return (
            f"the Sui framework {release.name} has no {shown}: if a newer one has,"
            " take that with --framework-from, for the localnet and for the package"
        )
    return (
        f"the bytecode of {release.name} has no {shown}; macros, methods by other names"
        f" and what is for tests alone are those of {FRAMEWORK_VERSION}"
    )
