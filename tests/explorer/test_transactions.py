"""The page of a transaction."""

import pytest

from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.transaction_builder import TransactionBuilder
from tests.index.conftest import ADD


@pytest.fixture
async def steps(active_stage):
    """Return the steps of a settled invocation."""
    place = await active_stage.close(ADD)
    return (await active_stage.invocations.history(place)).steps


async def test_page_shows_events_and_links_objects(steps, show):
    request, settling = steps
    pages = await show()
    text = await pages.text(f"/transactions/{settling.transaction}")
    assert "Succeeded" in text
    assert "InvocationSettled" in text
    assert "Net gas cost" in text
    page = (await pages.get(f"/transactions/{request.transaction}")).text
    assert f'href="/invocations/{request.event.invocation}"' in page


async def test_page_of_a_localnet_shows_calls_as_a_tree(steps, show):
    page = (await (await show()).get(f"/transactions/{steps[1].transaction}")).text
    assert '<ol class="tree calls">' in page
    assert "::invocation::settle" in page
    assert page.index("::invocation::settle") < page.index("::payment::pay")


async def test_failed_transaction_shows_its_error(show, active_stage, user):
    open_invocation = await active_stage.request(ADD)
    builder = TransactionBuilder()
    calls.expire(builder, active_stage.deployment.package, open_invocation)
    with pytest.raises(RefusedOnChainError) as caught:
        await user.execute(builder, budget=20_000_000)  # without a simulation
    text = await (await show()).text(f"/transactions/{caught.value.details['digest']}")
    assert "Failed" in text
    assert "The windows are not over" in text  # the comment of ENotExpired
    assert "invocation::expire" in text


@pytest.mark.parametrize("digest", ["nothing", "1" * 32, "1" * 5_000, "%00", "0x7"])
async def test_unknown_transaction_has_an_error_page(pages, digest):
    response = await pages.http.get(f"/transactions/{digest}")
    assert response.status_code == 404, response.text
    assert "The node does not have the transaction" in response.text
