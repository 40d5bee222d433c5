import pytest

from nexus_tools.errors import UsageError
from nexus_tools.leader import require_finished, stage_of
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal.invocation_rows import Stage
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio
ONE, TWO, UNKNOWN = map(Address.of, (1, 2, 3))


@pytest.fixture
async def path(tmp_path):
    """Return the journal of a Leader that has stopped."""
    path = tmp_path / "journal.sqlite"
    journal = await Journal.open(path, "identity")
    terms = (Address.of(7), "xyz.example.math.add@1", 0, 1_000, 2_000, 3_000, 500, 100)
    assigned = [Assignment(invocation, *terms) for invocation in (ONE, TWO)]
    await journal.record_events(assigned, {}, "cursor", 0)
    await journal.record_outcome(TWO, Answer("ok", {}))
    await journal.close()
    return path


async def test_stage_of_returns_the_stage_of_an_invocation(path):
    assert (stage_of(path, ONE), stage_of(path, TWO)) == (Stage.ASSIGNED, Stage.COMPLETED)
    assert stage_of(path, UNKNOWN) is None


async def test_stage_of_returns_none_and_leaves_a_locked_journal_unchanged(path):
    journal = await Journal.open(path, "identity")
    assert stage_of(path, ONE) is None
    await journal.record_call(ONE)
    await journal.close()
    assert stage_of(path, ONE) is Stage.CALLED


async def test_stage_of_returns_none_for_a_file_that_is_not_a_journal(tmp_path):
    (tmp_path / "journal.sqlite").write_text("no journal")
    assert stage_of(tmp_path / "journal.sqlite", ONE) is None
    assert stage_of(tmp_path / "absent.sqlite", ONE) is None


async def test_require_finished_fails_until_all_invocations_are_closed(path):
    with pytest.raises(UsageError, match="contains 2 open invocations") as caught:
        require_finished(path)
    assert caught.value.code == "journal_unfinished"
    assert "move the file" in caught.value.hint
    journal = await Journal.open(path, "identity")
    await journal.record_closed(dict.fromkeys((ONE, TWO), ClosureKind.SETTLED), 0)
    with pytest.raises(UsageError, match="a Leader uses the former journal") as caught:
        require_finished(path)
    assert caught.value.code == "journal_unfinished"
    assert "stop it" in caught.value.hint
    assert "ove the file" not in caught.value.hint
    await journal.close()
    require_finished(path)


def test_require_finished_fails_for_a_file_that_is_not_a_journal(tmp_path):
    path = tmp_path / "journal.sqlite"
    path.write_text("no journal")
    with pytest.raises(UsageError, match="cannot be read") as caught:
        require_finished(path)
    assert caught.value.hint == "Move the file to leave its invocations."


def test_require_finished_accepts_a_missing_file(tmp_path):
    require_finished(tmp_path / "absent.sqlite")
    assert list(tmp_path.iterdir()) == []
