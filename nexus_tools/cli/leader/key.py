"""`nexus-tools leader key`: the key with which a leader signs its tool calls."""

from nexus_tools.cli.signing_key import key_group


def _leader(text: str) -> str:
    from nexus_tools.sui.address import Address

    return str(Address.parse(text))


command = key_group(
    "Make and show the key with which a leader signs its tool calls.",
    "tools its public half",
    "LEADER",
    _leader,
)
