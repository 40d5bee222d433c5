"""Tools, leaders, invocations and workflows with hostile texts in every field that allows them."""

import json
from dataclasses import dataclass

from msgspec.structs import replace

from nexus_tools.registry import LeaderRegistry, Registration, Workflows
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.hostile_texts import HOSTILE_TEXTS
from tests.registry.sums import ADD, TWICE, sums
from tests.retry_policies import QUICK

# The lengths that the chain accepts, in bytes.
MAX_NAME = 200
MAX_DETAIL = 200
SUI = 10**9


@dataclass(frozen=True, slots=True)
class RawRegistration(Registration):
    """A registration whose definition on chain has fields that no validator has seen."""

    url: str = ""
    input_schema: bytes = b""

    def on_chain_definition(self):
        definition = Registration.on_chain_definition(self)
        return replace(definition, url=self.url, input_schema=self.input_schema)


def schema_of(text):
    """Return an input schema with the text wherever our validator of definitions allows it."""
    field = {"type": "string", "title": text, "description": text}
    nested = {"type": "object", "properties": {text: field}}
    return {
        "type": "object",
        "properties": {
            "x": {**field, "default": text, "examples": [text]},
            "y": {"enum": [text, "b"], "title": text},
            "z": nested,
        },
        "required": ["x"],
    }


def outputs_of(text):
    """Return an output schema with the text as title and description."""
    ports = {"r": {"type": "string", "title": text, "description": text}}
    kind = {"type": "object", "description": text, "properties": ports, "required": ["r"]}
    return {
        "type": "object",
        "oneOf": [{"type": "object", "properties": {"ok": kind}, "required": ["ok"]}],
    }


def cut(text, most):
    """Return a prefix of the text with at most `most` bytes."""
    return text.encode()[:most].decode(errors="ignore")


class HostileMarket:
    """The kind and ID of the objects of each hostile text, by the name of the text.

    The kind is `tools`, `invocations`, `leaders` or `workflows`.
    """

    def __init__(self, texts=HOSTILE_TEXTS):
        self.texts = texts
        self.objects = {name: [] for name in texts}

    async def add(self, history):
        """Add the objects to a chain."""
        owned = Workflows(history.clients["owner"], history.deployment)
        await history.tools.register(Registration(history.define(ADD)))
        for number, (name, text) in enumerate(self.texts.items()):
            await self._add_tools(history, number, name, text)
            await self._add_leader(history, number, name, text)
            fqn = f"xyz.example.flow{number}@1"
            await owned.publish(sums(*TWICE), fqn, cut(text, 1_000))
            self.objects[name].append(("workflows", fqn))

    async def _add_tools(self, history, number, name, text):
        fqn, raw_fqn = f"xyz.example.hostile{number}@1", f"xyz.example.raw{number}@1"
        fields = {
            "description": text,
            "input_schema": schema_of(text),
            "output_schema": outputs_of(text),
        }
        await history.tools.register(Registration(history.define(fqn, **fields)))
        await self._add_invocations(history, fqn, name, text)
        ascii_text = "".join(filter(str.isprintable, text.encode("ascii", "ignore").decode()))
        raw_schema = {"properties": {text: {"title": text, "type": text}}}
        raw = RawRegistration(
            history.define(raw_fqn, description=text),
            url=ascii_text[:2_000],
            input_schema=json.dumps(raw_schema).encode(),
        )
        await history.tools.register(raw)
        self.objects[name] += [("tools", fqn), ("tools", raw_fqn)]

    async def _add_invocations(self, history, fqn, name, text):
        tool = await history.tools.get(fqn)
        for outcome in (
            Answer("ok", {"r": text}),
            Failure(FailureReason.UNREACHABLE, cut(text, MAX_DETAIL)),
        ):
            _, invocation = await history.invocations.request(
                tool, {"x": text, "y": "b"}, leaders=[history.leader], max_outcome_bytes=20_000
            )
            await history.closings.close(history.leader, {invocation: outcome})
            self.objects[name].append(("invocations", str(invocation)))

    async def _add_leader(self, history, number, name, text):
        key = KeyPair.from_bytes(b"\0" + bytes([60 + number] * 32))
        history.net.fund(key.address, 20 * SUI)
        async with SuiClient(history.net.network, key, retry_policy=QUICK) as client:
            leaders = LeaderRegistry(client, history.deployment)
            _, leader = await leaders.register(cut(text, MAX_NAME), activate=True)
        self.objects[name].append(("leaders", str(leader)))
