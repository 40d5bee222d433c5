"""The systems that tools are exported to."""

LONGEST_NAMES = {
    "openai": 64,
    "openai-responses": 64,
    "anthropic": 64,  # its own API takes 128 by now, those that pass calls on to it 64
    "mcp": 48,  # models take 64, of which clients use some: `mcp__nexus__` in front of a name
    "gemini": 64,
    "openapi": 128,
    "unstract": 64,
}
"""How many characters a name has at most, by system; all take `[a-zA-Z0-9_-]`."""
