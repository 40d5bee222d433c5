"""The comparison of outcomes, in which new ids may have other values in the two machines."""

import pytest

OURS, GENUINE, OTHER = (bytes([number] * 32) for number in (1, 2, 3))


@pytest.fixture
def agreed():
    from genuine import RETURNED, Outcome, agree

    def agreed(ours, genuine):
        return agree(
            Outcome(RETURNED, values=ours), Outcome(RETURNED, values=genuine), [OURS, OTHER]
        )

    return agreed


def test_new_id_may_have_another_value(agreed):
    assert agreed((b"\x05" + OURS, OURS), (b"\x05" + GENUINE, GENUINE))


def test_new_id_has_the_same_other_value_everywhere(agreed):
    assert not agreed((OURS + OURS,), (GENUINE + bytes(32),))


def test_two_new_ids_have_different_values(agreed):
    assert not agreed((OURS + OTHER,), (GENUINE + GENUINE,))


def test_all_other_values_must_match(agreed):
    assert not agreed((OURS + b"\x01",), (GENUINE + b"\x02",))
    assert not agreed((bytes(32),), (GENUINE,))
    assert not agreed((OURS,), (GENUINE + b"\x00",))


def test_abort_must_match():
    from genuine import ABORTED, Outcome, agree

    assert not agree(Outcome(ABORTED, 1), Outcome(ABORTED, 2), [])
