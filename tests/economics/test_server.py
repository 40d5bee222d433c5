"""Attacks by a leader on the server of a priced tool, which follows the chain."""

import json
from contextlib import asynccontextmanager
from time import time

import pytest

from nexus_tools.contracts import parse_event
from nexus_tools.registry.tool_access import ToolAccess
from nexus_tools.tool import Answer, Identity, SigningKey, sign_request
from nexus_tools.tool.signing.signed_outcome import read_outcome_signature
from nexus_tools.tool_server import MemoryNonceStore, SignaturePolicy, ToolServer, Variant, tool
from nexus_tools.tool_server.testing import client

ADD = "xyz.example.math.add@1"
URL = "https://tools.example.com"
KEY, TOOL_KEY, STRANGERS_KEY = (SigningKey.new() for _ in range(3))


class Sum(Variant, name="ok"):
    result: int


@tool(ADD)
async def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return Sum(result=a + b)


class Served:
    """The tool's server from the point of view of its clients."""

    def __init__(self, http, parties, told_of):
        self.http, self.parties, self.told_of = http, parties, told_of

    async def ask(self, leader, invocation, inputs, key=KEY):
        """Return the headers of the request and the response."""
        body = json.dumps(inputs).encode()
        headers = {
            "content-type": "application/json",
            "nexus-invocation": str(invocation),
            "nexus-tool": ADD,
            "nexus-deadline": "2100-01-01T00:00:00Z",
            "nexus-max-outcome-bytes": "100",
        }
        url = f"{URL}/{ADD}/invoke"
        headers |= sign_request(Identity(str(leader), key), url, headers, body, time())
        return headers, await self.http.post(f"/{ADD}/invoke", content=body, headers=headers)

    async def answer(self, leader, invocation, inputs):
        """Return the signed answer."""
        asked, response = await self.ask(leader, invocation, inputs)
        ((variant, ports),) = response.json().items()
        answer = Answer(variant, ports)
        signature = read_outcome_signature(
            answer,
            dict(response.headers),
            asked,
            [TOOL_KEY.public_key],
            asked=json.dumps(inputs).encode(),
        )
        return Answer(variant, ports, signature)

    async def refusal(self, leader, invocation, inputs, key=KEY):
        """Return the error code of the response, or "" for an answer."""
        _, response = await self.ask(leader, invocation, inputs, key)
        return "" if response.status_code == 200 else response.json()["code"]


@pytest.fixture
async def signing_tool(parties, active_leader):
    """Register the tool with signed answers and with a key for the leader."""
    await parties.leaders().add_key(active_leader, KEY.public_key)
    terms = {"keys": (TOOL_KEY.public_key,), "requires_signed_outcome": True}
    return await parties.register_tool(add.definition(URL), active_leader, **terms)


@pytest.fixture
def serve(parties, owner):
    """Return a context manager that runs the server. It reads closings from given transactions."""

    @asynccontextmanager
    async def serve():
        signatures = SignaturePolicy(
            "required", key=TOOL_KEY, nonces=MemoryNonceStore(now=lambda: 0.0)
        )
        served = ToolAccess(owner, parties.chain.deployment, [ADD], signatures)

        def told_of(sent):
            for event in sent.events:
                closed = parse_event(parties.chain.deployment, event)
                if hasattr(closed, "reason"):
                    signatures.answers.mark_unpaid(str(closed.invocation), closed.reason)

        async with served.following():
            app = ToolServer([add], public_url=URL, signatures=served.signatures)
            async with client(app) as http:
                yield Served(http, parties, told_of)

    return serve


async def test_leader_that_withholds_answers_is_refused_after_three_prices(
    parties, signing_tool, active_leader, serve, attack
):
    """A tool risks three prices for each leader that it lists, and then refuses it."""
    refusals = []
    async with serve() as server, attack("leader"):
        for _ in range(5):
            invocation = await parties.request(signing_tool)
            refusals.append(await server.refusal(active_leader, invocation, parties.INPUTS))
            server.told_of(await parties.fail(active_leader, invocation))
            await parties.invocations().delete(invocation)
    assert refusals == ["", "", "", "answers_unpaid", "answers_unpaid"]


async def test_leader_cannot_settle_with_the_answer_to_its_own_question(
    parties, signing_tool, active_leader, serve, attack, refused
):
    """It gets one answer for each invocation, and cannot settle with it."""
    invocation = await parties.request(signing_tool)
    async with serve() as server, attack("leader") as played:
        mine = await server.answer(active_leader, invocation, {"a": 1, "b": 1})
        assert mine.ports == {"result": 2}
        assert await server.refusal(active_leader, invocation, parties.INPUTS) == "key_reused"
        with refused("invalid_signature"):
            await parties.invocations("leader").close(active_leader, {invocation: mine})
    assert played["leader"] == 0


async def test_leader_cannot_get_answers_without_an_invocation(
    parties, signing_tool, active_leader, serve, attack
):
    closed = await parties.request(signing_tool)
    await parties.fail(active_leader, closed)
    async with serve() as server, attack("leader"):
        assert await server.refusal(active_leader, closed, parties.INPUTS) == "call_not_authorized"
        for invented in (active_leader, "0x" + "f" * 64):
            assert await server.refusal(active_leader, invented, parties.INPUTS)


async def test_unlisted_leader_cannot_get_answers(
    parties, signing_tool, active_leader, serve, attack
):
    own = await parties.register_leader("stranger", "own")
    await parties.leaders("stranger").add_key(own, STRANGERS_KEY.public_key)
    invocation = await parties.request(signing_tool)
    async with serve() as server, attack("stranger"):
        for signer, code in ((own, "leader_not_accepted"), (active_leader, "key_unknown")):
            refusal = await server.refusal(signer, invocation, parties.INPUTS, STRANGERS_KEY)
            assert refusal == code


async def test_eavesdropper_cannot_replay_a_request(
    parties, signing_tool, active_leader, serve, attack
):
    invocation = await parties.request(signing_tool)
    async with serve() as server, attack("stranger"):
        headers, response = await server.ask(active_leader, invocation, parties.INPUTS)
        assert response.status_code == 200
        body = json.dumps(parties.INPUTS).encode()
        again = await server.http.post(f"/{ADD}/invoke", content=body, headers=headers)
        assert again.json()["code"] == "signature_replayed"
