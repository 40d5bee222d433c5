"""Hints about names of the framework that the compiler does not find.

The compiler is newer than the framework that comes with us, and so are many packages. A missing
name can also be for tests alone, or belong to a package that the manifest has to name.
"""

import re
from collections.abc import Iterable

from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES, FRAMEWORK_VERSION, Release

_MODULE = rf"'((?:{'|'.join(FRAMEWORK_NAMES.values())})::\w+)'"
_MEMBER_FIRST = re.compile(
    rf"(?:Unbound [a-z ]+'|no function ')(\w+)' (?:in|was found in the defining) module {_MODULE}"
)
_MODULE_ALONE = re.compile(rf"Unbound module:? {_MODULE}")
_UNKNOWN_ADDRESS = re.compile(
    rf"(?:address|Could not resolve the name) '({'|'.join(FRAMEWORK_NAMES.values())})'"
)
_SHOWN = 3
# The framework names its modules and functions for tests so, but for those of `_FOR_TESTS`.
_TEST_NAME = re.compile(r"::(?:test_\w+|unit_test|\w+_test_utils|\w+_tests)\b|_for_test(?:ing)?$")
_FOR_TESTS = frozenset(
    f"sui_system::sui_system::{name}"
    for name in (
        "active_validator_by_address",
        "candidate_validator_by_address",
        "get_stake_subsidy_distribution_counter",
        "pending_validator_by_address",
        "set_stake_subsidy_distribution_counter",
        "validator_staking_pool_mappings",
        "validators_mut",
    )
)


def missing_names(words: str) -> tuple[str, ...]:
    """Return the modules and members of the framework that the compiler does not find."""
    members = (f"{module}::{member}" for member, module in _MEMBER_FIRST.findall(words))
    return tuple(dict.fromkeys([*_MODULE_ALONE.findall(words), *members]))


def hint_at_missing_names(words: str, release: Release, *, for_tests: bool) -> str:
    """Return what to do about names that a framework lacks, or nothing if it has them all."""
    if unknown := _UNKNOWN_ADDRESS.search(words):
        name = unknown[1]
        return f'add {name} = {{ system = "{name}" }} to [dependencies] of Move.toml'
    names = missing_names(words)
    if not names:
        return ""
    test_names = [name for name in names if name in _FOR_TESTS or _TEST_NAME.search(name)]
    if len(test_names) == len(names):
        return _hint_at_test_names(names, for_tests=for_tests)
    if release.name == FRAMEWORK_VERSION:
        return (
            f"the Sui framework {release.name} has no {_listed(names)}: if a newer one has,"
            " take that with --framework-from, for the localnet and for the package"
        )
    return (
        f"the bytecode of {release.name} has no {_listed(names)}; macros, methods by other names"
        f" and what is for tests alone are those of {FRAMEWORK_VERSION}"
    )


def _hint_at_test_names(names: Iterable[str], *, for_tests: bool) -> str:
    if for_tests:
        return f"this test runner does not have {_listed(names)}: run these tests with the Sui CLI"
    return f"only tests have {_listed(names)}: call it from code with #[test_only]"


def _listed(names: Iterable[str]) -> str:
    shown, rest = list(names)[:_SHOWN], len(list(names)) - _SHOWN
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
