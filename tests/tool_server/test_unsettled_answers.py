"""Leaders that take answers for nothing: what counts, and what keeps them out."""

import asyncio
from datetime import UTC, datetime
from time import time

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.tool import Identity, KnownKeys, SigningKey, sign_request
from nexus_tools.tool_server import (
    MemoryNonceStore,
    NotAuthorizedError,
    NotReadyError,
    SignaturePolicy,
    ToolServer,
    UnsettledAnswers,
)
from nexus_tools.tool_server.signatures.unsettled_answers import MAX_KEPT, RETENTION_S
from nexus_tools.tool_server.testing import client

pytestmark = pytest.mark.anyio

URL = "https://tools.example.com"
ADD = "xyz.example.math.add@1"
LEADER, OTHER = "0x" + "a" * 64, "0x" + "b" * 64
KEY = SigningKey.new()
LEADERS = KnownKeys({LEADER: [KEY.public_key], OTHER: [KEY.public_key]})
BODY = b'{"a":1,"b":2}'
LATER, EARLIER = "2100-01-01T00:00:00Z", "2020-01-01T00:00:00Z"


def invocation(number):
    return f"0x{number:064x}"


@pytest.fixture
def answers():
    return UnsettledAnswers()


def record_answers(answers, leader, *numbers, now_s=0.0):
    for number in numbers:
        assert answers.record_call(leader, invocation(number), "digest", now_s)
        answers.record_answer(leader, invocation(number), has_answer=True)


def mark_unpaid(answers, *numbers, reason="unreachable"):
    for number in numbers:
        answers.mark_unpaid(invocation(number), reason)


def test_leader_is_rejected_after_three_unpaid_answers(answers):
    record_answers(answers, LEADER, 1, 2, 3, 4)
    mark_unpaid(answers, 1, 2)
    assert answers.refusal(LEADER) == ""
    mark_unpaid(answers, 4, reason="expired")
    for told in (LEADER, invocation(1), invocation(2), f"{invocation(4)} (expired)"):
        assert told in answers.refusal(LEADER)
    assert invocation(3) not in answers.refusal(LEADER)
    assert answers.refusal(OTHER) == ""


def test_invocation_that_fails_twice_counts_once(answers):
    record_answers(answers, LEADER, 1, 2)
    mark_unpaid(answers, 1, 1, 2, 2)
    assert answers.refusal(LEADER) == ""


def test_call_without_answer_does_not_count(answers):
    for number in (1, 2, 3):
        answers.record_call(LEADER, invocation(number), "digest", 0.0)
        answers.record_answer(LEADER, invocation(number), has_answer=False)
    mark_unpaid(answers, 1, 2, 3, 4, 5)
    assert answers.refusal(LEADER) == ""


def test_failure_before_the_answer_counts(answers):
    for number in (1, 2, 3):
        answers.record_call(LEADER, invocation(number), "digest", 0.0)
        answers.mark_unpaid(invocation(number), "timed_out")
        assert answers.refusal(LEADER) == ""
        answers.record_answer(LEADER, invocation(number), has_answer=True)
    assert answers.refusal(LEADER)


def test_answer_counts_for_each_leader_that_received_it(answers):
    record_answers(answers, LEADER, 1, 2, 3)
    record_answers(answers, OTHER, 2, 3)
    mark_unpaid(answers, 1, 2, 3)
    assert answers.refusal(LEADER)
    assert answers.refusal(OTHER) == ""


def test_settled_invocation_no_longer_counts(answers):
    record_answers(answers, LEADER, 1, 2, 3)
    answers.mark_settled(invocation(1))
    mark_unpaid(answers, 1, 2, 3)
    assert answers.refusal(LEADER) == ""


def test_excused_answer_counts_only_when_repeated(answers):
    record_answers(answers, LEADER, 1, 2, 3, 4)
    mark_unpaid(answers, 1)
    answers.excuse([invocation(number) for number in (1, 2, 3)])
    record_answers(answers, LEADER, 3)
    mark_unpaid(answers, 2, 3)
    assert invocation(2) not in answers.refusal(LEADER)
    mark_unpaid(answers, 4)
    assert all(invocation(number) in answers.refusal(LEADER) for number in (1, 3, 4))


def test_forgive_resets_the_count(answers):
    record_answers(answers, LEADER, 1, 2, 3, 4, 5)
    mark_unpaid(answers, 1, 2, 3)
    assert answers.forgive(LEADER) == 3
    assert answers.refusal(LEADER) == ""
    mark_unpaid(answers, 4, 5)
    assert answers.refusal(LEADER) == ""
    assert answers.forgive(OTHER) == 0


def test_unpaid_answers_alone_are_stored_permanently(answers):
    record_answers(answers, LEADER, 1, 2, 3, 4)
    mark_unpaid(answers, 1, 2)
    record_answers(answers, LEADER, 5, now_s=RETENTION_S + 20.0)
    mark_unpaid(answers, 3)
    assert answers.refusal(LEADER) == ""
    mark_unpaid(answers, 5)
    assert answers.refusal(LEADER)


def test_number_of_stored_answers_is_bounded(answers, monkeypatch):
    monkeypatch.setattr("nexus_tools.tool_server.signatures.unsettled_answers.MAX_KEPT", 10)
    assert MAX_KEPT > 10_000
    record_answers(answers, LEADER, *range(20))
    record_answers(answers, LEADER, 20, now_s=20.0)
    mark_unpaid(answers, 0, 1, 2)
    assert answers.refusal(LEADER) == ""
    mark_unpaid(answers, 18, 19, 20)
    assert answers.refusal(LEADER)


def test_processes_share_a_file_and_a_restart_forgives_nothing(tmp_path):
    first, second = UnsettledAnswers(tmp_path / "state"), UnsettledAnswers(tmp_path / "state")
    record_answers(first, LEADER, 1, 2)
    record_answers(second, LEADER, 3)
    for each in (first, second):
        mark_unpaid(each, 1, 2, 3)
    assert first.refusal(LEADER) == second.refusal(LEADER) != ""
    first.close()
    second.close()
    assert UnsettledAnswers(tmp_path / "state").refusal(LEADER)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600


def test_unusable_state_file_is_rejected(tmp_path):
    with pytest.raises(UsageError) as refused:
        UnsettledAnswers(tmp_path / "missing" / "state")
    assert refused.value.code == "state_unusable"


def test_unpaid_answers_are_logged(answers, log_entries):
    record_answers(answers, LEADER, 1, 2, 3)
    mark_unpaid(answers, 1, 2, 3)
    events = [(entry["event"], entry["log_level"]) for entry in log_entries]
    assert events == [("answer_unpaid", "warning")] * 3 + [("leader_refused", "error")]
    assert f"--forgive-leader {LEADER}" in log_entries[-1]["hint"]
    assert log_entries[-1]["invocations"] == [invocation(1), invocation(2), invocation(3)]


# --- Through a server


def server(tool, answers, mode="required", **options):
    options |= {"nonces": MemoryNonceStore(now=lambda: 0.0), "answers": answers}
    return ToolServer([tool], public_url=URL, signatures=SignaturePolicy(mode, LEADERS, **options))


def signed_headers(
    number, *, signer=LEADER, body=BODY, deadline=LATER, fqn=ADD, max_outcome_bytes=4096
):
    headers = {
        "content-type": "application/json",
        "nexus-invocation": invocation(number),
        "nexus-tool": fqn,
        "nexus-deadline": deadline,
        "nexus-max-outcome-bytes": str(max_outcome_bytes),
    }
    url = f"{URL}/{fqn}/invoke"
    return headers | sign_request(Identity(signer, KEY), url, headers, body, time())


async def post(http, *args, body=BODY, fqn=ADD, **options):
    headers = signed_headers(*args, body=body, fqn=fqn, **options)
    return await http.post(f"/{fqn}/invoke", content=body, headers=headers)


async def test_rejection_lists_unpaid_answers(add, answers):
    async with client(server(add, answers)) as http:
        for number in (1, 2, 3):
            assert (await post(http, number)).status_code == 200
        mark_unpaid(answers, 1, 2, 3)
        refused = await post(http, 4)
        other = await post(http, 5, signer=OTHER)
    assert (refused.status_code, refused.json()["code"]) == (403, "answers_unpaid")
    assert all(invocation(number) in refused.json()["detail"] for number in (1, 2, 3))
    assert other.status_code == 200


async def test_leaders_are_not_rejected_without_required_signatures(add, answers):
    async with client(server(add, answers, "optional")) as http:
        for number in (1, 2, 3):
            await post(http, number)
        mark_unpaid(answers, 1, 2, 3)
        assert (await post(http, 4)).status_code == 200


@pytest.mark.parametrize(
    "options",
    [{"body": b'{"a":"x"}'}, {"deadline": EARLIER}, {"max_outcome_bytes": 10}],
    ids=["a problem", "after the deadline", "too large"],
)
async def test_problem_response_does_not_count(add, answers, options):
    async with client(server(add, answers)) as http:
        for number in (1, 2, 3):
            response = await post(http, number, **options)
            assert b"result" not in response.content
        mark_unpaid(answers, 1, 2, 3)
        assert (await post(http, 4)).status_code == 200


async def test_invocation_pays_for_one_input(add, answers):
    async with client(server(add, answers)) as http:
        assert (await post(http, 1)).status_code == 200
        another = await post(http, 1, body=b'{"a":2,"b":2}')
        again = await post(http, 1)
    assert (another.status_code, another.json()["code"]) == (422, "key_reused")
    assert again.status_code == 200


async def test_second_input_is_rejected_while_first_runs(gate, answers):
    fqn = str(gate.tool.fqn)
    async with client(server(gate.tool, answers)) as http, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(post(http, 1, body=b'{"number":1}', fqn=fqn))
        await gate.entered.wait()
        second = await post(http, 1, body=b'{"number":2}', fqn=fqn)
        gate.opened.set()
        assert (await first).status_code == 200
    assert second.json()["code"] == "key_reused"
    assert gate.runs == 1


# --- Lookup of invocations


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotAuthorizedError("nobody requested it"), 403, "call_not_authorized"),
        (NotReadyError("the node is away"), 503, "not_ready"),
    ],
)
async def test_server_authorizes_calls_with_the_chain(add, answers, error, status, code):
    asked = []

    async def authorize(tool, call):
        asked.append((tool, call.invocation, call.leader))
        raise error

    async with client(server(add, answers, authorize=authorize)) as http:
        response = await post(http, 1)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["detail"] == str(error)
    assert asked == [(ADD, invocation(1), LEADER)]


# --- Unpaid answers


@pytest.mark.parametrize(("max_outcome_bytes", "status"), [(12, 422), (13, 200)])
async def test_answer_above_paid_size_is_not_sent(add, answers, max_outcome_bytes, status):
    # "ok", then a port of one byte: 01, 06 "result", 00, 01 "3".
    async with client(server(add, answers)) as http:
        response = await post(http, 1, max_outcome_bytes=max_outcome_bytes)
    assert response.status_code == status
    if status == 422:
        assert response.json()["code"] == "output_too_large"
        assert response.json()["detail"] == (
            "the answer has 13 bytes, but only 12 are paid for; use --max-outcome-bytes 13 or more"
        )


async def test_answer_after_the_deadline_is_not_sent(add, answers):
    async with client(server(add, answers)) as http:
        response = await post(http, 1, deadline=EARLIER)
        in_time = await post(http, 1)
    assert (response.status_code, response.json()["code"]) == (504, "timed_out")
    assert in_time.status_code == 200


async def test_deadline_uses_the_clock_of_the_leader(add, answers):
    ahead_s = 25.0
    deadline = datetime.fromtimestamp(time() + 10, UTC).isoformat()
    app = server(add, answers, clock=lambda: time() + ahead_s)
    async with client(app) as http:
        assert (await post(http, 1, deadline=deadline)).status_code == 200
