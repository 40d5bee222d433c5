"""What the platform of Unstract tells its tools by environment variables."""

from collections.abc import Mapping

NAMES = (
    "PLATFORM_SERVICE_HOST",
    "PLATFORM_SERVICE_PORT",
    "PLATFORM_SERVICE_API_KEY",
    "X2TEXT_HOST",
    "X2TEXT_PORT",
    "PUBLIC_EMBEDDING_CONFIG",
    "PUBLIC_LLM_CONFIG",
    "PUBLIC_VECTOR_DB_CONFIG",
    "PUBLIC_X2TEXT_CONFIG",
    "TIKTOKEN_CACHE_DIR",
)
"""The services that adapters are asked of, adapters that are configured without one, and a cache.

Every tool of Unstract may have them: nothing else on a machine is called so.
"""

SECRETS = tuple(name for name in NAMES if name.endswith(("_KEY", "_CONFIG")))
"""Those of them that are not for everybody to read."""


def platform_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that the operator has set."""
    return {name: environment[name] for name in NAMES if name in environment}
