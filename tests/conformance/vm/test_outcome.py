"""When two outcomes are the same: new ids may have other values in the two machines."""

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


def test_a_new_id_may_have_another_value(agreed):
    assert agreed((b"\x05" + OURS, OURS), (b"\x05" + GENUINE, GENUINE))


def test_a_new_id_has_the_same_other_value_everywhere(agreed):
    assert not agreed((OURS + OURS,), (GENUINE + bytes(32),))


def test_two_new_ids_do_not_have_one_value(agreed):
    assert not agreed((OURS + OTHER,), (GENUINE + GENUINE,))


def test_all_else_is_the_same(agreed):
    assert not agreed((OURS + b"\x01",), (GENUINE + b"\x02",))
    assert not agreed((bytes(32),), (GENUINE,))
    assert not agreed((OURS,), (GENUINE + b"\x00",))


def test_an_abort_is_no_other_abort():
    from genuine import ABORTED, Outcome, agree

    assert not agree(Outcome(ABORTED, 1), Outcome(ABORTED, 2), [])
