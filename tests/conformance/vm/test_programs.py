"""Random programs compared with Sui's VM: 400 of them."""

import pytest

pytestmark = pytest.mark.long

PROGRAMS = range(40)
ROUNDS = 3
# .ci/run compares the programs of all other seeds.
FIRST = "0"


def _seeds(count):
    return [FIRST, *(pytest.param(str(n), marks=pytest.mark.long) for n in range(1, count))]


@pytest.fixture
def compare(exposed_packages, move_builder):
    """Return compare(write, seed), which asserts that both machines run a seed's programs alike.

    It returns the number of compared programs.
    """
    from differential.programs import compare_programs, compiled

    def compare_written(write, seed):
        module = compiled(move_builder, write(seed, PROGRAMS).text)
        coverages, differences = compare_programs(exposed_packages, module, seed, ROUNDS)
        assert list(map(str, differences)) == []
        return sum(coverage.compared > 0 for coverage in coverages)

    return compare_written


@pytest.mark.parametrize("seed", _seeds(6))
def test_language_programs_match_sui_vm(compare, seed):
    from differential.programs import language_programs

    assert compare(language_programs, seed) == len(PROGRAMS)


@pytest.mark.parametrize("seed", _seeds(4))
def test_framework_programs_match_sui_vm(compare, seed):
    from differential.programs import framework_programs

    # Some programs only use features in which the wheel deliberately differs.
    assert compare(framework_programs, seed) >= len(PROGRAMS) - 3
