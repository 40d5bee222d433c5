"""The language runtimes that run packaged tools on a host without containers."""

import re
import shutil
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.errors import UsageError


class Language(StrEnum):
    """The language of a tool: Python, which uses a virtual environment, or another language."""

    PYTHON = "python"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Toolchain:
    language: Language
    programs: tuple[str, ...]


_PYTHON = _Toolchain(Language.PYTHON, ())
_NODE = _Toolchain(Language.OTHER, ("node",))
_GO = _Toolchain(Language.OTHER, ("go",))
_LANGUAGES = {
    "python": _PYTHON,
    "node": _NODE,
    "javascript": _NODE,
    "typescript": _NODE,
    "go": _GO,
    "golang": _GO,
    "deno": _Toolchain(Language.OTHER, ("deno",)),
    "bun": _Toolchain(Language.OTHER, ("bun",)),
    "ruby": _Toolchain(Language.OTHER, ("ruby",)),
    "rust": _Toolchain(Language.OTHER, ("cargo",)),
    "uv": _Toolchain(Language.PYTHON, ("uv",)),
}

# In Hyperpocket's containers, a command such as apt-get changes only the container. On this host,
# the command would change the operator's machine.
_SYSTEM_PACKAGES = re.compile(r"(?:^|[\s;&|(])(apt-get|apt|apk|dnf|yum|pacman|brew|sudo)\s")


def detect_language(manifest: Manifest, host: BridgeHost) -> Language:
    """Return the language of a tool if this host can build and run it.

    Raises:
        UsageError: with code `container_required` for images and builds that this host cannot
            replace, or `program_not_found` for a program that the host does not have.
    """
    match = _SYSTEM_PACKAGES.search(manifest.build)
    if match:
        message = f"the build installs operating system packages with {match[1]}"
        hint = "Install the packages yourself, and remove that step from the build."
        raise UsageError("container_required", message, hint=hint)
    toolchains = _toolchains(manifest)
    path = host.environment.get("PATH")
    for program in dict.fromkeys(name for chain in toolchains for name in chain.programs):
        if shutil.which(program, path=path) is None:
            message = f"the tool requires the program {program}, which is not on the PATH"
            raise UsageError("program_not_found", message, hint=f"Install {program}.")
    is_python = any(chain.language is Language.PYTHON for chain in toolchains)
    return Language.PYTHON if is_python else Language.OTHER


def _toolchains(manifest: Manifest) -> list[_Toolchain]:
    """Return the toolchains for the language and the image. Raise an error if both are unknown."""
    image = manifest.base_image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    chains = [_LANGUAGES[word] for word in (manifest.language, image) if word in _LANGUAGES]
    if chains:
        return chains
    if manifest.base_image:
        message = f"the tool requires the container image {manifest.base_image[:200]}"
        hint = "If the tool runs without the image, set its language in pocket.json."
        raise UsageError("container_required", message, hint=hint)
    message = f"the language {manifest.language[:80]!r} is not one of {', '.join(_LANGUAGES)}"
    raise UsageError("container_required", message)
