"""The systems to which tools are exported."""

MAX_NAME_LENGTHS = {
    "openai": 64,
    "openai-responses": 64,
    "anthropic": 64,  # Anthropic's own API allows 128, but gateways to it allow 64
    "mcp": 48,  # models allow 64, and clients add a prefix such as `mcp__nexus__`
    "gemini": 64,
    "openapi": 128,
    "unstract": 64,
}
"""The maximum length of a name in characters, by system. All systems allow `[a-zA-Z0-9_-]`."""
