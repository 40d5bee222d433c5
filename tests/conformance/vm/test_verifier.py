"""The verifier compared with Sui's: the same verdict on modules with changed bytes."""

import random
from collections import Counter

import pytest

pytestmark = pytest.mark.long

MUTANTS = 250
MODULES = ["calls", "control", "enums", "generics", "integers", "references"]
USUAL = "control"  # .ci/run compares the mutants of all other modules


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == USUAL else pytest.mark.long) for name in MODULES],
)
def test_verdicts_match_sui_and_accepted_modules_run(language_files, name):
    from fuzzing.verifier import check

    chance = random.Random(name)
    number = bytes([MODULES.index(name)])
    ends = Counter(check(number + _mutated(chance, language_files[name])) for _ in range(MUTANTS))
    assert min(ends["refused"], ends["called"]) > 5


def _mutated(chance, file):
    """Return the file with one to three bytes of its second half replaced by likely ones."""
    data = bytearray(file)
    for _ in range(chance.choice([1, 1, 2, 3])):
        value = chance.choice([chance.randrange(0x57), chance.randrange(8), 0x0A, 0x0B, 0x0D])
        data[chance.randrange(len(data) // 2, len(data))] = value
    return bytes(data)
