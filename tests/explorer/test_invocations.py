"""The pages of invocations and of their proofs."""

import pytest

from nexus_tools.registry import ProofDocument, verify_proof
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.index.conftest import ADD, WINDOW_MS

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202egpj"


@pytest.mark.parametrize(
    ("outcome", "count"), [("settled", 4), ("failed", 2), ("expired", 1), ("open", 1), ("", 8)]
)
async def test_list_filters_by_outcome(pages, outcome, count):
    page = await pages.get(f"/invocations?outcome={outcome}&execution=")
    assert page.text.count('<td><span class="id"><a href="/invocations/') >= count
    assert outcome == "" or page.text.count("<tr>") - 1 <= count + 2


async def test_list_explains_expired_invocations(pages):
    note = "Expired No leader closed the invocation before the last window ended."
    assert note in await pages.text("/invocations?outcome=expired")
    assert note not in await pages.text("/invocations?outcome=settled")


async def test_invocation_page_shows_times_inputs_answer_and_payments(active_stage, show):
    place = await active_stage.close(ADD)
    text = await (await show()).text(f"/invocations/{place}")
    assert "Settled" in text
    assert "The answer matches the output schema" in text
    assert "Closed" in text
    assert "ok {1}" in text
    assert "result 3" in text
    assert "Prepaid" in text
    assert "Proof of this paid call" in text


async def test_failed_invocation_page_says_why_in_a_sentence(active_stage, show):
    place = await active_stage.close(ADD, Failure(FailureReason.UNREACHABLE, HOSTILE))
    pages = await show()
    text = await pages.text(f"/invocations/{place}")
    assert "Unreachable: the tool's URL did not respond during the leader's window" in text
    page = (await pages.get(f"/invocations/{place}")).text
    assert "<img" not in page.replace('<img src="/static/', "")
    assert not {"\x1b", "\u202e"} & {*page}


async def test_deleted_invocation_page_shows_its_last_version(active_stage, show):
    place = await active_stage.close(ADD)
    await active_stage.invocations.delete(place)
    text = await (await show()).text(f"/invocations/{place}")
    assert "deleted" in text
    assert "result 3" in text


async def test_open_invocation_page_shows_the_window(active_stage, show):
    place = await active_stage.request(ADD)
    pages = await show()
    text = await pages.text(f"/invocations/{place}")
    assert "Open" in text
    assert "Open now" in text
    assert "No leader has closed the invocation yet" in text
    active_stage.net.advance_clock(WINDOW_MS)
    assert "Missed" in await (await show()).text(f"/invocations/{place}")


async def test_large_answer_stays_within_the_size_of_a_page(active_stage, show):
    place = await active_stage.request(ADD)
    answer = Answer("ok", {"result": [{"text": "<b>" * 20, "n": n} for n in range(30)]})
    await active_stage.closings.close(active_stage.leader, {place: answer})
    await (await show()).get(f"/invocations/{place}")  # `get` checks the size


@pytest.mark.parametrize("path", ["0x7", "0x" + "7" * 64, "nothing", "%00", "x" * 5_000])
async def test_unknown_invocation_has_an_error_page(pages, path):
    response = await pages.http.get(f"/invocations/{path}")
    assert response.status_code in (400, 404)
    assert "<h1" in response.text


async def test_proof_page_links_a_document_that_verifies(active_stage, show, owner, chain):
    place = await active_stage.close(ADD)
    pages = await show()
    page = await pages.get(f"/proof/{place}")
    assert f'href="/proof/{place}.json"' in page.text
    assert "It does not prove" in await pages.text(f"/proof/{place}")
    for path, headers in (
        (f"/proof/{place}.json", {}),
        (f"/proof/{place}", {"Accept": "application/json"}),
    ):
        response = await pages.get(path, headers=headers)
        assert response.headers["content-type"] == "application/json"
        proof = ProofDocument.parse(response.content)
        assert proof.invocation == place
        assert (await verify_proof(owner, chain.deployment, proof)).is_valid


async def test_call_without_proof_has_an_error_page(active_stage, show):
    place = await active_stage.close(ADD, Failure(FailureReason.UNREACHABLE, ""))
    pages = await show()
    for path in (f"/proof/{place}", f"/proof/{place}.json"):
        assert "is failed, so the tool was not paid" in await pages.text(path, 409)
    assert "does not exist" in await pages.text("/proof/0x" + "7" * 64, 404)
