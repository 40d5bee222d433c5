"""The environment of a stranger's program: a list of what is allowed, never of what is not."""

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

from nexus_tools.bridges.sandbox.confinement import NAMES_PORT, Confinement
from nexus_tools.bridges.sandbox.scratch import Scratch

OPERATORS = ("PATH", "LANG", "LC_ALL", "TZ")


class Operator(Protocol):
    """Who has variables, and says which of them, and what else, tools have. A `Host` is one."""

    @property
    def environment(self) -> Mapping[str, str]:
        """All of the operator's variables."""
        ...

    @property
    def shared(self) -> frozenset[str]:
        """The names of those that every tool gets."""
        ...

    @property
    def confinement(self) -> Confinement:
        """What every tool may touch."""
        ...


def environment_of(
    host: Operator,
    *,
    scratch: Scratch,
    declared: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What a tool gets: PATH, LANG, LC_ALL, TZ, and the names that are shared or `declared`.

    Those have the operator's values, where there is one. WORKSPACE is the one folder that stays,
    and RES_OPTIONS has names looked up by TCP, where either is open. HOME, TMPDIR
    and the XDG directories are in the scratch directory, whatever is shared or declared. `extra`
    comes last, and wins.
    """
    names = {*OPERATORS, *host.shared, *declared}
    given = {name: host.environment[name] for name in sorted(names) if name in host.environment}
    return {
        "PATH": os.defpath,
        **given,
        **_opened(host.confinement),
        **_own_places(scratch),
        **(extra or {}),
    }


def _opened(confinement: Confinement) -> dict[str, str]:
    workspace, resolver = confinement.workspace, {"RES_OPTIONS": "use-vc"}
    return {
        **({"WORKSPACE": str(workspace)} if workspace else {}),
        **(resolver if confinement.is_on and NAMES_PORT in confinement.ports else {}),
    }


def _own_places(scratch: Scratch) -> dict[str, str]:
    home = scratch.home
    return {
        "HOME": str(home),
        "TMPDIR": str(scratch.temporary),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_RUNTIME_DIR": str(scratch.temporary),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
    }
