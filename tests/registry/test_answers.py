"""Answers that violate the output schema of their tool; leaders can settle anything."""

import pytest

from nexus_tools import OutputInvalidError
from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.contracts.ports import make_ports
from nexus_tools.errors import ValidationError
from nexus_tools.registry import validate_answers
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer

INPUTS = {"a": 1, "b": 2}
GOOD = Answer("ok", {"result": 3})


@pytest.fixture
async def requested(invocations, priced_tool):
    return (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=500))[1]


@pytest.fixture
def settle(closing, active_leader):
    """Return a function that settles an invocation with ports that no JSON document has."""

    async def settle(invocation, ports):
        builder, package = TransactionBuilder(), closing.deployment.package
        written = make_ports(builder, package, ports)
        calls.settle(builder, package, invocation, active_leader, "ok", written)
        await closing.send(builder)

    return settle


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        (Answer("no_such", {"result": 3}), ""),
        (Answer("ok", {"result": "three"}), "/ok/result"),
        (Answer("ok", {}), "/ok"),
    ],
)
async def test_outcome_raises_for_schema_invalid_answer(
    invocations, closing, requested, active_leader, answer, pointer
):
    await closing.close(active_leader, {requested: answer})
    for verb in (invocations.wait, invocations.outcome):
        with pytest.raises(OutputInvalidError) as caught:
            await verb(requested)
        error = caught.value
        assert (error.code, error.invocation, error.answer) == ("output_invalid", requested, answer)
        assert error.details["failures"][0]["pointer"] == pointer
        assert error.details["variant"] == answer.variant
        assert str(requested) in error.hint


async def test_outcome_returns_schema_valid_answer(invocations, closing, requested, active_leader):
    await closing.close(active_leader, {requested: GOOD})
    assert await invocations.wait(requested) == GOOD
    assert not await validate_answers(invocations, [await invocations.get(requested)])


async def test_many_answers_are_validated_with_one_request(
    invocations, closing, priced_tool, active_leader, monkeypatch
):
    places = [
        (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=500))[1] for _ in range(3)
    ]
    bad = Answer("ok", {"result": None})
    await closing.close(active_leader, dict(zip(places, [GOOD, bad, GOOD], strict=True)))
    closed = [await invocations.get(place) for place in places]
    request_sizes = []
    objects = invocations.client.objects

    async def counted(ids):
        request_sizes.append(len(ids))
        return await objects(ids)

    monkeypatch.setattr(invocations.client, "objects", counted)
    assert [*await validate_answers(invocations, closed)] == [places[1]]
    assert request_sizes == [1]


async def test_answer_with_off_chain_value_needs_known_variant(invocations, requested, settle):
    remote = Ports((("result", Value.Remote("walrus", b"key")),))
    await settle(requested, remote)
    assert await invocations.outcome(requested) == Answer(
        "ok", {"result": {"storage": "walrus", "key": "key"}}
    )


async def test_outcome_raises_for_answer_with_invalid_json(invocations, requested, settle):
    broken = Ports((("result", Value.Inline(b"{")),))
    await settle(requested, broken)
    with pytest.raises(ValidationError) as caught:
        await invocations.outcome(requested)
    assert caught.value.code == "output_invalid"
