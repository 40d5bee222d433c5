"""Settings in environment variables, and detection of misspelled names.

A misspelled variable such as `NEXUS_TOOLS_NETWROK` would be ignored silently, and a command would
use another network. So this module lists all names with our prefixes, except the settings of the
Leader, which lists its own. If click reads a variable as the value of an option, a constant of this
module contains the variable's full name.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from nexus_tools.errors import UsageError
from nexus_tools.sui.support.suggestions import suggestion

PREFIX = "NEXUS_TOOLS_"
NAMES = (
    *("check_domain", "config", "debug", "index_url", "intent_model", "keystore", "leaders"),
    *(
        "localnet_port",
        "max_gas_price",
        "network",
        "passphrase",
        "passphrase_file",
        "secret",
        "signer",
        "signer_ca",
    ),
    *("signer_certificate", "signer_key", "signer_token", "signer_token_file", "timeout"),
    *("trusted_requesters", "wallet"),
)
"""The names of users' settings. For example, the variable `NEXUS_TOOLS_CONFIG` sets `config`."""

LEADER_PREFIX = "NEXUS_TOOLS_LEADER_"
"""The prefix of the Leader's settings. The Leader's own module lists the settings' names."""

TOOL_PREFIX = "NEXUS_TOOL_"
TOOL_VARIABLES = (
    *("authorization", "tls_cert_path", "tls_key_path", "tls_root_pem_path", "url"),
    *("leaders_path", "signatures", "signing_key_path", "state_path"),
)
"""The names of settings that other programs for serving and calling tools also use."""

CHECK_DOMAIN = f"{PREFIX}CHECK_DOMAIN"
DEBUG = f"{PREFIX}DEBUG"
LOCALNET_PORT = f"{PREFIX}LOCALNET_PORT"
PASSPHRASE = f"{PREFIX}PASSPHRASE"
PASSPHRASE_FILE = f"{PREFIX}PASSPHRASE_FILE"
SECRET = f"{PREFIX}SECRET"
LEADERS_PATH = f"{TOOL_PREFIX}LEADERS_PATH"
SIGNATURES = f"{TOOL_PREFIX}SIGNATURES"
SIGNER_TOKEN_FILE = f"{PREFIX}SIGNER_TOKEN_FILE"
SIGNING_KEY_PATH = f"{TOOL_PREFIX}SIGNING_KEY_PATH"
STATE_PATH = f"{TOOL_PREFIX}STATE_PATH"
TLS_CERT_PATH = f"{TOOL_PREFIX}TLS_CERT_PATH"
TLS_KEY_PATH = f"{TOOL_PREFIX}TLS_KEY_PATH"
TLS_ROOT_PEM_PATH = f"{TOOL_PREFIX}TLS_ROOT_PEM_PATH"
BIND_ADDR = "BIND_ADDR"
"""The variable with a server's listening address, which container platforms set."""


def home_directory() -> Path:
    """Return the home directory of the user who runs this process."""
    return Path.home()


def user_variables() -> dict[str, str]:
    """Return the values of our environment variables that are set. The keys are from `NAMES`.

    Raises `variable_unknown`.
    """
    read(TOOL_PREFIX, TOOL_VARIABLES)
    return read(PREFIX, NAMES, elsewhere=LEADER_PREFIX)


def read(
    prefix: str,
    names: Collection[str],
    environment: Mapping[str, str] | None = None,
    *,
    elsewhere: str | None = None,
) -> dict[str, str]:
    """Return the values of the variables with a prefix. The keys of the result are in `names`.

    An empty variable counts as not set. Variables that start with `elsewhere` are ignored, because
    another module reads them. Raises `variable_unknown` if another variable with the prefix is not
    in `names`.
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
        f"unknown environment variable {variable[:80]}",
        hint=suggestion(variable, known, otherwise=f"Use one of {', '.join(sorted(known))}."),
        details={"variable": variable, "known": sorted(known)},
    )
