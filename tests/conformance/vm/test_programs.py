"""Programs written by chance, against the genuine VM: 400 of them."""

import pytest

PROGRAMS = range(40)
ROUNDS = 3


@pytest.fixture
def compare(exposed_packages, move_builder):
    """compare(write, seed): assert that both machines run the programs of a seed alike.

    Gives how many were compared.
    """
    from differential.programs import compare_programs, compiled

    def compare_written(write, seed):
        module = compiled(move_builder, write(seed, PROGRAMS).text)
        coverages, differences = compare_programs(exposed_packages, module, seed, ROUNDS)
        assert list(map(str, differences)) == []
        return sum(coverage.compared > 0 for coverage in coverages)

    return compare_written


@pytest.mark.parametrize("seed", ["0", "1", "2", "3", "4", "5"])
def test_programs_over_the_language_do_what_they_do_in_the_genuine_vm(compare, seed):
    from differential.programs import language_programs

    assert compare(language_programs, seed) == len(PROGRAMS)


@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
def test_programs_over_the_framework_do_what_they_do_in_the_genuine_vm(compare, seed):
    from differential.programs import framework_programs

    # Some do nothing but what the wheel does in its own way.
    assert compare(framework_programs, seed) >= len(PROGRAMS) - 3
