"""What a packaged tool is run with on a host that has no containers."""

import re
import shutil
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.errors import UsageError


class Language(StrEnum):
    """What a tool is written in, as far as it matters: Python gets an environment of its own."""

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

# In a container these change the container, here they would change the operator's machine.
_SYSTEM_PACKAGES = re.compile(r"(?:^|[\s;&|(])(apt-get|apt|apk|dnf|yum|pacman|brew|sudo)\s")


def language_of(manifest: Manifest, host: Host) -> Language:
    """The language of a tool, if this host can build and run it.

    Raises `UsageError`: `container_needed` for images and builds that nothing here stands for,
    `program_missing` for a program that the host does not have.
    """
    found = _SYSTEM_PACKAGES.search(manifest.build)
    if found:
        message = f"its build installs packages of the operating system by {found[1]}"
        hint = "install them yourself, and take that step out of the build"
        raise UsageError("container_needed", message, hint=hint)
    toolchains = _toolchains(manifest)
    path = host.environment.get("PATH")
    for program in dict.fromkeys(each for chain in toolchains for each in chain.programs):
        if shutil.which(program, path=path) is None:
            message = f"it needs the program {program}, which is not on the PATH"
            raise UsageError("program_missing", message, hint=f"install {program}")
    is_python = any(chain.language is Language.PYTHON for chain in toolchains)
    return Language.PYTHON if is_python else Language.OTHER


def _toolchains(manifest: Manifest) -> list[_Toolchain]:
    """What the language and the image stand for; one of them has to be known."""
    image = manifest.base_image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    chains = [_LANGUAGES[word] for word in (manifest.language, image) if word in _LANGUAGES]
    if chains:
        return chains
    if manifest.base_image:
        message = f"it runs in the container image {manifest.base_image[:200]}"
        hint = "name a language in pocket.json if it runs without the image"
        raise UsageError("container_needed", message, hint=hint)
    message = f"its language {manifest.language[:80]!r} is none of {', '.join(_LANGUAGES)}"
    raise UsageError("container_needed", message)
