"""`nexus-tools tool key`: the key with which a tool signs its responses."""

from nexus_tools.cli.signing_key import key_group


def _fqn(text: str) -> str:
    from nexus_tools.tool import ToolFqn

    return str(ToolFqn.parse(text))


command = key_group(
    "Make and show the key with which a tool signs its responses.",
    "leaders its public half",
    "FQN",
    _fqn,
)
