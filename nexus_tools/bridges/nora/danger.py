"""Which NORA tools run any command that they are given, told from the manifest alone.

A manifest has no word for it, so the rule goes by names, and is no more than that: it keeps a
`shell` tool from being offered to everybody by accident. The sandbox, not this rule, is the bound
of what a tool can do.
"""

import re

from nexus_tools.bridges.nora.manifest import Manifest

# A tool is called so: one of these is a word of its name.
TOOL_WORDS = frozenset(
    (
        *("shell", "bash", "sh", "zsh", "cmd", "powershell", "terminal", "subprocess"),
        *("exec", "execute", "command", "commands", "eval"),
    )
)
# A tool takes this: one of these is the whole name of a parameter.
PARAMETERS = frozenset(("command", "commands", "cmd", "shell", "shell_command", "script"))

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def runs_commands(manifest: Manifest) -> str:
    """Why the tool is taken for one that runs arbitrary commands; empty if it is not."""
    words = {word.lower() for word in _WORDS.findall(manifest.name)}
    for word in sorted(words & TOOL_WORDS):
        return f"its name has the word {word!r}"
    properties = manifest.parameters.get("properties", {})
    for name in sorted(properties):
        if name.lower() in PARAMETERS:
            return f"it has the parameter {name!r}"
    return ""
