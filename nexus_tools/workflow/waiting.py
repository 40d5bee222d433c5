"""The tools of the Move package itself, for authors: their interfaces are the same everywhere."""

from nexus_tools.tool import ask_definition, wait_definition

_ANYWHERE = "0x0"

ask = ask_definition(_ANYWHERE)
"""Asks an address, `who`, a `question`: `approved` or `rejected` with a `note`, or `expired`."""

wait = wait_definition(_ANYWHERE)
"""Waits `until_ms`, or `for_ms`: then it is `over`."""
