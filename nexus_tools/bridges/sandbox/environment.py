"""The environment of an untrusted program, which contains only allowed variables."""

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

from nexus_tools.bridges.sandbox.confinement import DNS_PORT, Confinement
from nexus_tools.bridges.sandbox.scratch import ScratchDirectory

INHERITED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ")


class OperatorEnvironment(Protocol):
    """The operator's variables and the subset for tools. `BridgeHost` implements this protocol."""

    @property
    def environment(self) -> Mapping[str, str]:
        """All variables of the operator."""
        ...

    @property
    def shared(self) -> frozenset[str]:
        """The names of the variables that every tool receives."""
        ...

    @property
    def confinement(self) -> Confinement:
        """The resources that every tool may use."""
        ...


def environment_of(
    host: OperatorEnvironment,
    *,
    scratch: ScratchDirectory,
    declared: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a tool's environment: PATH, LANG, LC_ALL, TZ, and the shared or `declared` names.

    These variables have the operator's values, if they are set. If the confinement has a workspace,
    WORKSPACE is its path. If the confinement allows DNS, RES_OPTIONS makes the resolver use TCP.
    HOME, TMPDIR, and the XDG directories are in the scratch directory, even if they are shared or
    declared. The variables in `extra` take precedence over all other variables.
    """
    names = {*INHERITED_VARIABLES, *host.shared, *declared}
    operator_values = {
        name: host.environment[name] for name in sorted(names) if name in host.environment
    }
    return {
        "PATH": os.defpath,
        **operator_values,
        **_confinement_variables(host.confinement),
        **_scratch_variables(scratch),
        **(extra or {}),
    }


def _confinement_variables(confinement: Confinement) -> dict[str, str]:
    workspace, resolver = confinement.workspace, {"RES_OPTIONS": "use-vc"}
    return {
        **({"WORKSPACE": str(workspace)} if workspace else {}),
        **(resolver if confinement.is_on and DNS_PORT in confinement.ports else {}),
    }


def _scratch_variables(scratch: ScratchDirectory) -> dict[str, str]:
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
