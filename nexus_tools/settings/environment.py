"""Settings in the environment: what the variables with a prefix say, and that none is misspelt.

A variable that nobody reads changes nothing, and nobody says so: with `NEXUS_TOOLS_NETWROK` a
command would work on another network. So all names of a prefix are known here, or by the Leader
for its own. What click reads for an option has its whole name here.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from nexus_tools.errors import UsageError
from nexus_tools.sui.support.suggestions import suggestion

PREFIX = "NEXUS_TOOLS_"
NAMES = (
    *("ask_domain", "config", "debug", "keystore", "leaders", "localnet_port", "max_gas_price"),
    *("network", "passphrase", "passphrase_file", "secret", "timeout", "wallet"),
)
"""What users set, as `NEXUS_TOOLS_CONFIG` and so on."""

LEADER_PREFIX = "NEXUS_TOOLS_LEADER_"
"""Settings of the Leader, which knows their names."""

TOOL_PREFIX = "NEXUS_TOOL_"
TOOL_NAMES = (
    *("authorization", "tls_cert_path", "tls_key_path", "tls_root_pem_path", "url"),
    *("leaders_path", "signatures", "signing_key_path", "state_path"),
)
"""What programs that serve and call tools share with those of other makers."""

ASK_DOMAIN = f"{PREFIX}ASK_DOMAIN"
DEBUG = f"{PREFIX}DEBUG"
LOCALNET_PORT = f"{PREFIX}LOCALNET_PORT"
PASSPHRASE = f"{PREFIX}PASSPHRASE"
PASSPHRASE_FILE = f"{PREFIX}PASSPHRASE_FILE"
SECRET = f"{PREFIX}SECRET"
LEADERS_PATH = f"{TOOL_PREFIX}LEADERS_PATH"
SIGNATURES = f"{TOOL_PREFIX}SIGNATURES"
SIGNING_KEY_PATH = f"{TOOL_PREFIX}SIGNING_KEY_PATH"
STATE_PATH = f"{TOOL_PREFIX}STATE_PATH"
TLS_CERT_PATH = f"{TOOL_PREFIX}TLS_CERT_PATH"
TLS_KEY_PATH = f"{TOOL_PREFIX}TLS_KEY_PATH"
TLS_ROOT_PEM_PATH = f"{TOOL_PREFIX}TLS_ROOT_PEM_PATH"
BIND_ADDR = "BIND_ADDR"
"""As hosts of containers set it, for servers of any kind."""


def home_directory() -> Path:
    """The home of the user who runs this process."""
    return Path.home()


def user_variables() -> dict[str, str]:
    """What users have set, by the names in `NAMES`. Raises `variable_unknown`."""
    read(TOOL_PREFIX, TOOL_NAMES)
    return read(PREFIX, NAMES, elsewhere=LEADER_PREFIX)


def read(
    prefix: str,
    names: Collection[str],
    environment: Mapping[str, str] | None = None,
    *,
    elsewhere: str | None = None,
) -> dict[str, str]:
    """The values of the variables with a prefix, by `names` (in lower case) that are set.

    An empty variable counts as not set. Those that begin with `elsewhere` have another reader.
    Raises `variable_unknown` for a variable with the prefix and none of the names.
    """
    environment = os.environ if environment is None else environment
    known = {prefix + name.upper(): name for name in names}
    for variable in sorted(environment):
        ours = variable.startswith(prefix) and not (elsewhere and variable.startswith(elsewhere))
        if ours and variable not in known:
            raise _unknown(variable, known)
    return {name: environment[key] for key, name in known.items() if environment.get(key)}


def _unknown(variable: str, known: Collection[str]) -> UsageError:
    return UsageError(
        "variable_unknown",
        f"the environment sets {variable[:80]}, which means nothing",
        hint=suggestion(variable, known, otherwise=f"known are {', '.join(sorted(known))}"),
        details={"variable": variable, "known": sorted(known)},
    )
