"""Programs written by chance, against the genuine VM: 400 of them."""

import pytest

PROGRAMS = range(40)
ROUNDS = 3


@pytest.fixture
def compare_programs(exposed_packages, move_builder):
    """compare_programs(write, seed): assert that both machines run the programs of a seed alike.

    Gives how many were compared.
    """
    from differential.programs.comparing import Programs

    programs = Programs(move_builder, exposed_packages)

    def compare(write, seed):
        coverages, differences = programs.compare(write, seed, PROGRAMS, ROUNDS)
        assert differences == []
        return sum(coverage.compared > 0 for coverage in coverages)

    return compare


@pytest.mark.parametrize("seed", ["0", "1", "2", "3", "4", "5"])
def test_programs_over_the_language_do_what_they_do_in_the_genuine_vm(compare_programs, seed):
    from differential.programs.source import language_programs

    assert compare_programs(language_programs, seed) == len(PROGRAMS)


@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
def test_programs_over_the_framework_do_what_they_do_in_the_genuine_vm(compare_programs, seed):
    from differential.programs.source import framework_programs

    # Some do nothing but what the wheel does in its own way.
    assert compare_programs(framework_programs, seed) >= len(PROGRAMS) - 3
