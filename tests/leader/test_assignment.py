from msgspec.structs import replace

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.leader.chain.assignment import assignment
from nexus_tools.sui.types.address import Address

FIRST, SECOND, STRANGER = (Address.of(number) for number in (0x11, 0x12, 0x13))


def requested(*leaders):
    # timeout 10 s and grace 15 s give windows of 25 s.
    return InvocationRequested(
        invocation=Address.of(0xA1),
        tool=Address.of(0x7001),
        fqn="xyz.example.math.add@1",
        requester=Address.of(0x5),
        leaders=leaders,
        requested_at_ms=100_000,
        timeout_ms=10_000,
        expires_at_ms=100_000 + 25_000 * len(leaders),
        price_mist=0,
        payment_mist=0,
        max_outcome_bytes=1_000,
        settlement=Settlement.Leader(),
        tool_revision=0,
        attempt=None,
    )


def test_first_window_opens_with_the_request():
    mine = assignment(requested(FIRST, SECOND), FIRST)
    assert (mine.place, mine.opens_at_ms) == (0, 100_000)
    assert (mine.window_ends_at_ms, mine.expires_at_ms) == (125_000, 150_000)


def test_backup_window_opens_after_the_first_window():
    mine = assignment(requested(FIRST, SECOND), SECOND)
    assert (mine.place, mine.opens_at_ms) == (1, 125_000)
    assert (mine.window_ends_at_ms, mine.expires_at_ms) == (150_000, 150_000)


def test_endless_window_fits_into_the_journal():
    endless = replace(requested(FIRST), expires_at_ms=2**64 - 1)
    assert assignment(endless, FIRST).expires_at_ms == 2**63 - 1


def test_single_leader_has_one_window():
    mine = assignment(requested(FIRST), FIRST)
    assert (mine.window_ends_at_ms, mine.expires_at_ms) == (125_000, 125_000)


def test_single_leader_and_backup_are_last():
    assert assignment(requested(FIRST), FIRST).is_last
    assert not assignment(requested(FIRST, SECOND), FIRST).is_last
    assert assignment(requested(FIRST, SECOND), SECOND).is_last


def test_assignment_is_none_for_another_leader():
    assert assignment(requested(FIRST, SECOND), STRANGER) is None


def test_another_leader_may_close_only_in_its_own_window():
    first = assignment(requested(FIRST, SECOND), FIRST)
    backup = assignment(requested(FIRST, SECOND), SECOND)
    assert not first.is_shared_at(124_999)
    assert first.is_shared_at(125_000)
    assert backup.is_shared_at(125_000)


def test_late_first_leader_has_until_the_end_of_all_windows():
    first = assignment(requested(FIRST, SECOND), FIRST)
    assert first.outcome_by_ms(101_000, margin_ms=2_000) == 123_000
    assert first.outcome_by_ms(124_000, margin_ms=2_000) == 148_000
