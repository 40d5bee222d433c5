"""Hints about framework names that the compiler does not find.

The compiler is newer than the bundled framework, and many packages require a newer framework. A
missing name may also be test-only, or belong to a package that is not in the manifest's
dependencies.
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
# The naming scheme of the framework's test-only modules and functions. `_FOR_TESTS` has test-only
# functions that do not follow the scheme.
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
    """Return the framework modules and members that compiler output reports as missing."""
    members = (f"{module}::{member}" for member, module in _MEMBER_FIRST.findall(words))
    return tuple(dict.fromkeys([*_MODULE_ALONE.findall(words), *members]))


def missing_names_hint(words: str, release: Release, *, for_tests: bool) -> str:
    """Return a hint about names that the framework lacks, or an empty string."""
    if unknown := _UNKNOWN_ADDRESS.search(words):
        name = unknown[1]
        return f'Add `{name} = {{ system = "{name}" }}` to [dependencies] of Move.toml.'
    names = missing_names(words)
    if not names:
        return ""
    test_names = [name for name in names if name in _FOR_TESTS or _TEST_NAME.search(name)]
    if len(test_names) == len(names):
        return _hint_at_test_names(names, for_tests=for_tests)
    if release.name == FRAMEWORK_VERSION:
        return (
            f"The Sui framework {release.name} does not have {_listed(names)}. If a newer framework"
            " has it, specify it with --framework-from for the localnet and for the package."
        )
    return (
        f"The bytecode of {release.name} does not have {_listed(names)}. Use only macros, method"
        f" aliases and test-only functions that exist in framework {FRAMEWORK_VERSION}."
    )


def _hint_at_test_names(names: Iterable[str], *, for_tests: bool) -> str:
    if for_tests:
        listing = _listed(names)
        return f"Run these tests with the Sui CLI, because this test runner lacks {listing}."
    return f"Use {_listed(names)} only in code with #[test_only]."


def _listed(names: Iterable[str]) -> str:
    first_names, rest_count = list(names)[:_SHOWN], len(list(names)) - _SHOWN
    return ", ".join(first_names) + (f" and {rest_count} more" if rest_count > 0 else "")
