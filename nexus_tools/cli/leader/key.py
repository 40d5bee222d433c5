"""`nexus-tools leader key`: the key with which a leader signs its tool calls."""

from nexus_tools.cli.signing_key import key_group

command = key_group(
    "Make and show the key with which a leader signs its tool calls.",
    "tools its public half",
    "LEADER",
)
