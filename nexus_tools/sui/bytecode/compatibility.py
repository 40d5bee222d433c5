"""Whether a package may become another one by an upgrade.

Source: `move-binary-format/src/{compatibility,compatibility_mode,inclusion_mode}.rs`, with the
flags of `Compatibility::upgrade_check`: layouts and abilities of types stay as they are, and so do
the signatures of public functions; entry functions that are not public may change.
"""

from collections.abc import Mapping
from enum import IntEnum

from nexus_tools.sui.bytecode.module import CompiledModule, Visibility
from nexus_tools.sui.bytecode.normalized import (
    NormalizedDatatype,
    NormalizedFunction,
    NormalizedModule,
    normalize,
)


class UpgradePolicy(IntEnum):
    """What an upgrade may change: the constants of `sui::package`."""

    COMPATIBLE = 0
    ADDITIVE = 128
    DEP_ONLY = 192


def check_compatible(
    current: Mapping[str, CompiledModule],
    new: Mapping[str, CompiledModule],
    policy: UpgradePolicy,
) -> str:
    """Why the policy forbids the upgrade, or ""."""
    if policy is UpgradePolicy.DEP_ONLY and len(current) != len(new):
        return "adding or removing a module to a deps only package is not allowed"
    for name, module in current.items():
        if name not in new:
            return f"existing module {name} not found in next version of package"
        reason = _check_module(normalize(module), normalize(new[name]), policy)
        if reason:
            return f"{name}: {reason}"
    return ""


def _check_module(current: NormalizedModule, new: NormalizedModule, policy: UpgradePolicy) -> str:
    if policy is UpgradePolicy.COMPATIBLE:
        return _check_datatypes(current, new) or _check_functions(current, new)
    reason = _check_inclusion(current, new)
    if not reason and policy is UpgradePolicy.DEP_ONLY:
        return _check_nothing_new(current, new)
    return reason


def _check_datatypes(current: NormalizedModule, new: NormalizedModule) -> str:
    for name, datatype in current.datatypes.items():
        if name not in new.datatypes:
            return f"the type {name} is missing"
        if not _same_layout(datatype, new.datatypes[name]):
            return f"the type {name} has changed"
    return ""


def _same_layout(current: NormalizedDatatype, new: NormalizedDatatype) -> bool:
    return (current.abilities, current.type_parameters, current.variants) == (
        new.abilities,
        new.type_parameters,
        new.variants,
    )


def _check_functions(current: NormalizedModule, new: NormalizedModule) -> str:
    for name, function in current.functions.items():
        if function.visibility is not Visibility.PUBLIC:
            continue
        if name not in new.functions:
            return f"the public function {name} is missing"
        if not _same_interface(function, new.functions[name]):
            return f"the public function {name} has changed"
    return ""


def _same_interface(current: NormalizedFunction, new: NormalizedFunction) -> bool:
    """Type parameters may ask for fewer abilities than before, not for more.

    `f<T: copy + drop>` may become `f<T: drop>`: all calls of before still fit. The other way some
    do not.
    """
    return (
        new.visibility is Visibility.PUBLIC
        and (current.parameters, current.returns) == (new.parameters, new.returns)
        and len(current.type_parameters) == len(new.type_parameters)
        and all(
            not after & ~before
            for before, after in zip(current.type_parameters, new.type_parameters, strict=True)
        )
    )


def _check_inclusion(current: NormalizedModule, new: NormalizedModule) -> str:
    """All that was there is there unchanged, code included."""
    if current.version > new.version:
        return "the version of its file format is older than before"
    for kind, before, after in (
        ("type", current.datatypes, new.datatypes),
        ("function", current.functions, new.functions),
    ):
        for name, thing in before.items():
            if after.get(name) != thing:
                return f"the {kind} {name} is missing or has changed"
    return ""


def _check_nothing_new(current: NormalizedModule, new: NormalizedModule) -> str:
    """Besides what was there, there is nothing. Of friends only the number counts."""
    for kind, before, after in (
        ("type", current.datatypes, new.datatypes),
        ("function", current.functions, new.functions),
    ):
        for name in after.keys() - before.keys():
            return f"the {kind} {name} is new"
    return "" if current.friend_count == new.friend_count else "its friends have changed"
