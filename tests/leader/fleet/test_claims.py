"""Claims of invocations by processes that share a journal, and the writes of their owners."""

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest

from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal.invocation_rows import Stage
from nexus_tools.leader.journal.lease import HoldingLostError, RowLostError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason

pytestmark = pytest.mark.anyio

ONE, TWO = Address.of(1), Address.of(2)
ANSWER = Answer("ok", {"n": 1})


@pytest.fixture
async def holder(fleet):
    """Return the journal of a process that records events."""
    journal = await fleet.join()
    await journal.recover()
    return journal


# --- Claims


async def test_free_invocation_is_claimed_by_one_process(fleet, holder, assignment_of, claim):
    other = await fleet.join()
    rows = [assignment_of(1), assignment_of(2, opens_at_ms=1_001)]
    await holder.record_events(rows, {}, "c", 0)
    assert await claim(other, limit=1) == [1]
    assert await claim(holder) == [2]
    assert await claim(other) == []
    assert fleet.owners() == {1: other.worker, 2: holder.worker}


async def test_concurrent_claims_never_share_an_invocation(fleet, holder, assignment_of, claim):
    journals = [holder, *[await fleet.join() for _ in range(2)]]
    for number in range(10):
        numbers = range(100 * number, 100 * number + 60)
        await holder.record_events([assignment_of(n) for n in numbers], {}, f"{number}", 0)
        claims = [claim(journal, limit=7) for journal in journals for _ in range(3)]
        claimed = Counter(chain.from_iterable(await asyncio.gather(*claims)))
        while rest := await claim(holder):
            claimed.update(rest)
        assert claimed == Counter(numbers)


async def test_claim_prefers_the_invocations_that_open_first(holder, assignment_of, claim):
    opening = {1: 1_500, 2: 2_000, 3: 2_001, 4: 900}
    rows = [assignment_of(number, opens_at_ms=at_ms) for number, at_ms in opening.items()]
    await holder.record_events(rows, {}, "c", 0)
    assert await claim(holder, 1_000, limit=2) == [4, 1]
    assert await claim(holder, 1_000) == [2]
    assert await claim(holder, 1_001) == [3]


async def test_tool_gets_at_most_its_part_of_a_process(fleet, holder, assignment_of, claim):
    """A tool that does not respond must not fill the fleet."""
    slow, quick = Address.of(0x51), Address.of(0x52)
    rows = [assignment_of(number, tool=slow, opens_at_ms=number) for number in range(1, 11)]
    await holder.record_events([*rows, assignment_of(11, tool=quick)], {}, "c", 0)
    assert await claim(holder, held={slow: 1}, most=4) == [1, 2, 3, 11]
    assert await claim(holder, held={slow: 4}, most=4) == []
    other = await fleet.join()
    assert await claim(other, most=4) == [4, 5, 6, 7]


async def test_claim_is_full_if_there_may_be_more(holder, assignment_of):
    await holder.record_events([assignment_of(number) for number in (1, 2, 3)], {}, "c", 0)
    assert (await holder.claim(1_000, 2, {}, 9)).is_full
    assert not (await holder.claim(1_000, 2, {}, 9)).is_full


async def test_only_the_holder_claims_attempts_of_executions(fleet, holder, assignment_of, claim):
    other, rows = await fleet.join(), [assignment_of(1), assignment_of(2)]
    await holder.record_events(rows, {}, "c", 0, attempts={TWO})
    assert await claim(other) == [1]
    holder.is_holder = True
    assert await claim(holder) == [2]


async def test_claimed_entry_contains_stage_outcome_and_checkpoint(fleet, holder, assignment_of):
    other = await fleet.join()
    await holder.record_events([assignment_of(1)], {}, "c", 0, checkpoint=77)
    [entry] = (await other.claim(1_000, 9, {}, 9)).entries
    assert (entry.assignment, entry.stage) == (assignment_of(1), Stage.ASSIGNED)
    assert (entry.outcome, entry.checkpoint) == (None, 77)
    await other.record_outcome(ONE, ANSWER)
    await other.close()
    [entry] = (await holder.claim(1_000, 9, {}, 9)).entries
    assert (entry.stage, entry.outcome) == (Stage.COMPLETED, ANSWER)


# --- Returns


async def test_returned_invocation_is_free_and_its_claim_does_not_count(
    fleet, holder, assignment_of, claim
):
    await holder.record_events([assignment_of(1), assignment_of(2)], {}, "c", 0)
    await claim(holder)
    assert fleet.column("claims") == {1: 1, 2: 1}
    assert await holder.give_back(ONE)
    assert await holder.give_back(ONE)  # it is not owned
    assert await holder.give_back(TWO, holder_only=True)
    assert fleet.column("claims") == {1: 0, 2: 0}
    assert fleet.owners() == {1: None, 2: None}
    other = await fleet.join()
    assert await claim(other) == [1]


async def test_closing_the_journal_returns_all_invocations(fleet, holder, assignment_of, claim):
    other = await fleet.join()
    await holder.record_events([assignment_of(1), assignment_of(2)], {}, "c", 0)
    await claim(other)
    await other.record_call(ONE)
    await other.close()
    assert fleet.owners() == {1: None, 2: None}
    assert fleet.column("claims") == {1: 0, 2: 0}
    assert sorted(await claim(holder)) == [1, 2]


async def test_invocation_of_five_ended_leases_is_poisonous(fleet, holder, assignment_of, claim):
    await holder.record_events([assignment_of(1)], {}, "c", 0)
    for _ in range(5):
        assert (await holder.beat(0)).poisonous == 0
        other = await fleet.join()
        assert await claim(other) == [1]
        fleet.execute("DELETE FROM workers WHERE worker = %s", (other.worker,))
    assert await claim(holder) == []
    assert (await holder.beat(0)).poisonous == 1
    expires_at_ms = assignment_of(1).expires_at_ms
    assert (await holder.beat(expires_at_ms)).poisonous == 0
    assert await holder.prune(expires_at_ms) == 0
    assert await holder.prune(expires_at_ms + 1) == 1


# --- Writes of owners


async def test_only_the_owner_records_a_call_and_an_outcome(fleet, holder, assignment_of, claim):
    other = await fleet.join()
    await holder.record_events([assignment_of(1)], {}, "c", 0)
    await claim(other)
    for record in (holder.record_call(ONE), holder.record_outcome(ONE, ANSWER)):
        with pytest.raises(RowLostError):
            await record
    await other.record_call(ONE)
    await other.record_call(ONE)
    await other.record_outcome(ONE, ANSWER)
    assert fleet.column("stage") == {1: "known"}
    await other.record_outcome(ONE, Failure(FailureReason.REFUSED, "too expensive"))
    assert "too expensive" in fleet.column("outcome")[1]


async def test_any_process_records_a_closure(fleet, holder, assignment_of, claim):
    """The chain has decided, so the owner does not matter."""
    other = await fleet.join()
    await holder.record_events([assignment_of(1), assignment_of(2)], {}, "c", 0)
    await claim(other)
    await holder.record_closed({ONE: ClosureKind.SETTLED, TWO: ClosureKind.MISSED}, 5)
    await holder.record_closed({ONE: ClosureKind.ELSEWHERE}, 6)
    assert fleet.owners() == {1: None, 2: None}
    assert fleet.column("closed") == {1: "settled", 2: "missed"}
    assert await holder.closures([ONE, TWO, Address.of(3)]) == {
        ONE: ClosureKind.SETTLED,
        TWO: ClosureKind.MISSED,
    }
    for record in (other.record_call(ONE), other.record_outcome(ONE, ANSWER)):
        with pytest.raises(RowLostError):
            await record


async def test_owned_invocations_are_those_of_the_process(fleet, holder, assignment_of, claim):
    other = await fleet.join()
    await holder.record_events([assignment_of(1)], {}, "c", 0)
    await claim(holder)
    await holder.record_events([assignment_of(2)], {}, "d", 0)
    await claim(other)
    assert await holder.owned() == {ONE}
    entries = await holder.owned_entries([ONE, TWO])
    assert [entry.assignment for entry in entries] == [assignment_of(1)]


# --- Writes of the holder


async def test_event_that_closes_an_invocation_frees_it(fleet, holder, assignment_of, claim):
    await holder.record_events([assignment_of(1)], {}, "c", 0)
    await claim(holder)
    await holder.record_events([], {ONE: ClosureKind.ELSEWHERE}, "d", 0)
    assert fleet.owners() == {1: None}
    assert await holder.owned() == set()


async def test_holder_counts_the_closures_of_invocations_without_an_owner(
    fleet, holder, assignment_of, claim
):
    """The owner of an invocation counts its closure."""
    other, counted = await fleet.join(), []
    holder.on_unowned_closed = lambda assignment, kind: counted.append((assignment, kind))
    backup = assignment_of(2, opens_at_ms=9_000)
    await holder.record_events([assignment_of(1), backup, assignment_of(3)], {}, "c", 0)
    assert await claim(other) == [1, 3]
    await other.record_closed({Address.of(3): ClosureKind.SETTLED}, 5)
    closed = dict.fromkeys(map(Address.of, (1, 2, 3, 4)), ClosureKind.ELSEWHERE)
    await holder.record_events([assignment_of(4)], closed, "d", 0)
    assert counted == [(backup, ClosureKind.ELSEWHERE)]
    assert fleet.column("closed") == {1: "elsewhere", 2: "elsewhere", 3: "settled", 4: "elsewhere"}


async def test_events_of_a_former_holder_are_rejected(fleet, holder, assignment_of):
    other = await fleet.join()
    await holder.record_events([], {}, "c", 0)
    await other.recover()
    await other.record_events([], {}, "d", 0)
    with pytest.raises(HoldingLostError):
        await holder.record_events([assignment_of(1)], {}, "e", 0)
    assert fleet.owners() == {}
    assert (await holder.recover()).cursor == "d"
    await holder.record_events([assignment_of(1)], {}, "a", 0)  # after a rollback
    assert (await other.recover()).cursor == "a"


async def test_rollback_takes_invocations_from_their_owners(fleet, holder, assignment_of, claim):
    """A write for the chain before the rollback must not change the reopened invocation."""
    other = await fleet.join()
    await holder.record_events([assignment_of(1), assignment_of(2)], {}, "c", 0)
    await claim(other)
    await holder.record_closed({ONE: ClosureKind.SETTLED}, 5)
    await holder.reopen([ONE])
    later = replace(assignment_of(2), opens_at_ms=1_100)
    assert await holder.record_events([assignment_of(1), later], {}, "b", 0) == (later,)
    assert fleet.owners() == {1: None, 2: None}
    assert fleet.column("claims") == {1: 0, 2: 0}
    for invocation in (ONE, TWO):
        with pytest.raises(RowLostError):
            await other.record_outcome(invocation, ANSWER)
    assert await claim(other) == [1, 2]  # the first opens earlier
    await other.record_outcome(TWO, ANSWER)


async def test_page_skips_an_invocation_that_another_transaction_changes(
    fleet, holder, assignment_of, claim
):
    """Otherwise two processes that close the same invocations could wait for each other."""
    other, loop = await fleet.join(), asyncio.get_running_loop()
    await holder.record_events([assignment_of(1), assignment_of(2)], {}, "c", 0)
    await claim(other)
    closures = {ONE: ClosureKind.ELSEWHERE, TWO: ClosureKind.ELSEWHERE}
    tries = []

    def change_and_let_the_holder_write(connection):
        tries.append(1)
        values = (bytes(ONE),)
        connection.execute("UPDATE invocations SET stage = 'called' WHERE invocation = ?", values)
        page = holder.record_events([], closures, "d", 0)
        asyncio.run_coroutine_threadsafe(page, loop).result(60)

    await other._commits.run(change_and_let_the_holder_write)
    assert fleet.column("stage") == {1: "called", 2: "closed"}
    assert len(tries) == 1


async def test_prune_deletes_all_old_invocations_in_parts(
    fleet, holder, assignment_of, monkeypatch
):
    monkeypatch.setattr("nexus_tools.leader.fleet.fleet_journal._PRUNED_ROWS", 2)
    rows = [assignment_of(number) for number in range(1, 7)]
    closed = {Address.of(number): ClosureKind.MISSED for number in range(1, 6)}
    await holder.record_events(rows, closed, "c", 100)
    assert await holder.prune(100) == 0
    assert await holder.prune(101) == 5
    assert fleet.owners() == {6: None}


# --- The holder


async def test_one_process_holds_the_intake_at_a_time(fleet, holder):
    other = await fleet.join()
    assert await holder.hold(60)
    assert await holder.hold(60)
    assert not await other.hold(60)
    fleet.execute("UPDATE holder SET until = now() - interval '1 second'")
    assert await other.hold(60)
    assert not await holder.hold(60)
    await holder.release()
    assert not await holder.hold(60)
    await other.release()
    assert await holder.hold(60)


async def test_another_process_holds_after_the_lease_of_the_holder(fleet, holder):
    other = await fleet.join()
    assert await holder.hold(60)
    fleet.execute("DELETE FROM workers WHERE worker = %s", (holder.worker,))
    assert await other.hold(60)


# --- Texts


async def test_untrusted_text_with_a_null_character_is_stored_as_an_escape(
    holder, assignment_of, claim
):
    """PostgreSQL rejects the character, and one row would stop the intake of the fleet."""
    await holder.record_events([assignment_of(1)], {}, "c", 0)
    await claim(holder)
    outcome = Answer("ok\0", {"p\0": ["\0", "\ud800"]})
    await holder.record_outcome(ONE, outcome)
    [entry] = await holder.owned_entries([ONE])
    assert entry.outcome == outcome
