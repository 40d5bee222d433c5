"""The question which terms a registration lacks, without a chain."""

from types import SimpleNamespace

import pytest

from nexus_tools.cli.tool.terms import RegistrationTerms, prompt_for_missing_terms
from nexus_tools.errors import ValidationError

FIRST, SECOND = "xyz.example.math.add@1", "xyz.example.math.mul@1"
TERMS = {
    "price_mist": 0,
    "collateral_mist": 10**9,
    "delay_ms": 0,
    "leaders": (),
    "keys": (),
    "requires_signed_outcome": False,
    "min_outcome_bytes": 0,
}


class Tools:
    """A registry with one registered tool."""

    def __init__(self):
        self.reads = []

    async def find(self, fqn):
        self.reads.append(str(fqn))
        return object() if str(fqn) == FIRST else None


@pytest.fixture
def tools():
    return Tools()


@pytest.fixture
def ask(define, tmp_path, tools):
    """Return a function that asks, without a terminal, what a registration of tools lacks."""
    session = SimpleNamespace(
        yes=True,
        dry_run=False,
        output=SimpleNamespace(can_ask=False),
        settings=SimpleNamespace(data_directory=tmp_path),
    )

    async def ask(*fqns, **terms):
        accepted = RegistrationTerms(**TERMS | terms)
        nexus = SimpleNamespace(tools=tools)
        return accepted, await prompt_for_missing_terms(
            session, nexus, accepted, [define(fqn) for fqn in fqns]
        )

    return ask


@pytest.mark.anyio
async def test_complete_terms_are_accepted_without_a_request(ask, tools):
    before, after = await ask(FIRST, SECOND)
    assert after == before
    before, after = await ask(SECOND, price_mist=5, leaders=(b"leader",))
    assert after == before
    assert tools.reads == []


@pytest.mark.anyio
async def test_registered_tool_needs_no_leaders_and_no_key(ask):
    before, after = await ask(FIRST, price_mist=5, requires_signed_outcome=True)
    assert after == before


@pytest.mark.anyio
async def test_new_tool_with_a_price_needs_leaders(ask):
    with pytest.raises(ValidationError, match=SECOND) as caught:
        await ask(FIRST, SECOND, price_mist=5)
    assert caught.value.code == "accepts_any_leader"
    assert "--leader" in caught.value.hint


@pytest.mark.anyio
async def test_new_tool_with_signed_answers_needs_a_key(ask):
    with pytest.raises(ValidationError, match=SECOND) as caught:
        await ask(FIRST, SECOND, requires_signed_outcome=True)
    assert caught.value.code == "signing_key_missing"
    assert "tool key new" in caught.value.hint
