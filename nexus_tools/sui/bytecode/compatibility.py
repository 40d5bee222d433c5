"""The compatibility of a package upgrade with the current version.

Source: `move-binary-format/src/{compatibility,compatibility_mode,inclusion_mode}.rs`, with the
flags of `Compatibility::upgrade_check`. An upgrade must not change the layout or the abilities of a
type, or the signature of a public function. An upgrade may change an entry function that is not
public.
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
    """The policy that limits the changes of an upgrade. `sui::package` defines the values."""

    COMPATIBLE = 0
    ADDITIVE = 128
    DEP_ONLY = 192


def incompatibility_reason(
    current: Mapping[str, CompiledModule],
    new: Mapping[str, CompiledModule],
    policy: UpgradePolicy,
) -> str:
    """Return the reason why the policy forbids the upgrade, or ""."""
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
    """Return whether all existing calls of a public function remain valid after the upgrade.

    The upgrade may remove ability constraints of a type parameter, but must not add any. For
    example, `f<T: copy + drop>` may become `f<T: drop>` because existing calls satisfy the new
    constraint.
    """
    return (
        new.visibility is Visibility.PUBLIC
        and (current.parameters, current.returns) == (new.parameters, new.returns)
        and len(current.type_parameters) == len(new.type_parameters)
        and all(
            not new_abilities & ~old_abilities
            for old_abilities, new_abilities in zip(
                current.type_parameters, new.type_parameters, strict=True
            )
        )
    )


def _check_inclusion(current: NormalizedModule, new: NormalizedModule) -> str:
    """Return a description of the first definition that the upgrade changes, or ""."""
    if current.version > new.version:
        return "the new version of the module has an older file format"
    for kind, old_items, new_items in (
        ("type", current.datatypes, new.datatypes),
        ("function", current.functions, new.functions),
    ):
        for name, definition in old_items.items():
            if new_items.get(name) != definition:
                return f"the {kind} {name} is missing or has changed"
    return ""


def _check_nothing_new(current: NormalizedModule, new: NormalizedModule) -> str:
    """Return a description of the first definition that the upgrade adds, or "".

    For friend modules, compare only their number.
    """
    for kind, old_items, new_items in (
        ("type", current.datatypes, new.datatypes),
        ("function", current.functions, new.functions),
    ):
        for name in new_items.keys() - old_items.keys():
            return f"the {kind} {name} is new"
    return "" if current.friend_count == new.friend_count else "the friend modules have changed"
