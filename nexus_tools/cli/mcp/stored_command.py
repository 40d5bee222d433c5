"""The command that an MCP client stores to start `nexus-tools mcp serve`."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.cli.framework import child_command
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment

_SERVE = ("mcp", "serve")
_PACKAGE = "nexus-tools"
_REQUIREMENT = f"{_PACKAGE}[mcp]"
_MODULE = "nexus_tools"

_SECRETS = (environment.PASSPHRASE, environment.SECRET, f"{environment.PREFIX}SIGNER_TOKEN")
_SECRET_NAME = re.compile(
    r"(API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH"
    r"|AUTHORIZATION|MNEMONIC)$",
    re.IGNORECASE,
)
# A private key as the Sui CLI prints it (Sui Improvement Proposal 15), and a URL with a password.
_SECRET_VALUE = re.compile(r"suiprivkey1|://[^/\s@]*:[^/\s@]+@")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class StoredCommand:
    """A program with its arguments and its environment variables."""

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def serve_command(options: Sequence[str], variables: Sequence[str]) -> StoredCommand:
    """Return the command that runs `mcp serve` with these options from any directory.

    `variables` are environment variables as NAME=VALUE. Raises `secret_refused` and
    `variable_invalid`.
    """
    for option in options:
        if _SECRET_VALUE.search(option):
            raise _secret("an option contains a password or a private key")
    program, *arguments = _this_program()
    return StoredCommand(program, (*arguments, *_SERVE, *options), dict(map(_variable, variables)))


def is_ours(entry: Any) -> bool:
    """Return whether the entry of a client's file has the form of a `StoredCommand`."""
    if not isinstance(entry, dict):
        return False
    program, arguments = entry.get("command"), entry.get("args")
    if not isinstance(program, str) or not isinstance(arguments, list):
        return False
    words = [program, *map(str, arguments)]
    at = next((at for at in range(1, len(words)) if tuple(words[at : at + 2]) == _SERVE), 0)
    names = [re.split(r"[/\\]", word)[-1].removesuffix(".exe") for word in words[:at]]
    if not names or names[-1] not in (_PACKAGE, _REQUIREMENT, _MODULE):
        return False
    return len(names) == 1 or names[0] == "uvx" or names[-2] == "-m"


def unstored_variables(stored: StoredCommand) -> list[str]:
    """Return the names of our variables that are set here, but not for the client's server.

    An option such as `--network` overrides its variable.
    """
    options = {word[2:].partition("=")[0] for word in stored.arguments if word.startswith("--")}
    return sorted(
        f"{environment.PREFIX}{name.upper()}"
        for name in environment.user_variables()
        if name.replace("_", "-") not in options
        and f"{environment.PREFIX}{name.upper()}" not in stored.environment
    )


def _this_program() -> list[str]:
    """Return the command line of this program, with an absolute path.

    The environment of `uvx` is in a cache that uv may delete, so `uvx` is stored instead.
    """
    if _is_in_uv_cache(Path(sys.prefix)):
        beside = Path(os.environ.get("UV", "uv")).with_name("uvx")
        return [shutil.which("uvx") or str(beside), "--from", _REQUIREMENT, _PACKAGE]
    program = Path(sys.argv[0]).absolute()
    if program.stem == _PACKAGE and program.is_file():
        return [str(program)]
    return child_command()


def _is_in_uv_cache(folder: Path) -> bool:
    """Return whether a virtual environment is in uv's cache.

    The root of the cache has a file CACHEDIR.TAG, and `pyvenv.cfg` has the version of uv.
    """
    try:
        settings = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return False
    is_from_uv = re.search(r"^uv = ", settings, re.MULTILINE) is not None
    return is_from_uv and any((parent / "CACHEDIR.TAG").is_file() for parent in folder.parents)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise UsageError(
            "variable_invalid",
            f"expected --env NAME=VALUE, got {name[:80]!r}",
            hint="Name a variable and its value, for example --env NEXUS_TOOLS_NETWORK=testnet.",
        )
    if name in _SECRETS or _SECRET_NAME.search(name) or _SECRET_VALUE.search(value):
        raise _secret(f"the environment variable {name} contains a secret")
    return name, value


def _secret(message: str) -> UsageError:
    return UsageError(
        "secret_refused",
        f"{message}, and other programs can read the client's file",
        hint="Store a secret in a file that only you can read, and pass its absolute path, for"
        f" example --env {environment.PASSPHRASE_FILE}=PATH. Select a key by its name with"
        " --wallet.",
    )
