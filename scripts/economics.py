"""What the package's verbs cost, and what is left to a leader of its fees.

Each verb is executed on a localnet at the reference gas price of 1 000 MIST, once for each size of
a batch. Computation is in gas units, so it follows at any other price; storage depends on none.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nexus_tools.client import KeyPair, Network, SuiClient, request_sui
from nexus_tools.localnet import Localnet, Origin
from nexus_tools.package import Deployment, Publisher, Sent, load_package, ports_of
from nexus_tools.package.move.leader_registry import LeaderSettings
from nexus_tools.registry import (
    DEFAULT_OUTCOME_BYTES,
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    add_outcome,
    add_request,
    outcome_bytes,
    quote_mist,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    OutcomeSignature,
    ToolDefinition,
)
from nexus_tools.tool.signed_outcome import outcome_message

PRICE = 1_000
"""The reference gas price of a localnet, in MIST."""

PRICES = (500, 1_000, 2_000, 5_000)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
SIGNED_BATCHES = (1, 16, 32, 64)
PROTOCOLS = (105, 140)

_SUI = 1_000_000_000
_INPUTS = {"a": 20, "b": 22}
_ANSWER = Answer("ok", {"result": 42})
_FAILURE = Failure(FailureReason.UNREACHABLE, "x" * 200)
_PRICED, _FREE, _SIGNED = (
    "xyz.example.math.priced",
    "xyz.example.math.free",
    "xyz.example.math.signed",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a verb costs whoever sends it: gas units of computation, and storage after rebates."""

    units: int
    storage_mist: int

    def mist(self, price: int = PRICE) -> int:
        """The cost at a gas price, in MIST."""
        return self.units * price + self.storage_mist

    def per(self, count: int) -> "Cost":
        """The share of one of so many in a transaction."""
        return Cost(self.units // count, self.storage_mist // count)


def cost_of(sent: Sent) -> Cost:
    """What a transaction at `PRICE` cost."""
    gas = sent.cost
    return Cost(gas.computation_cost // PRICE, gas.storage_cost - gas.storage_rebate)


@dataclass(frozen=True, slots=True)
class Economy:
    """All that was measured by the rules of one protocol version."""

    protocol: int
    settings: LeaderSettings
    answer_bytes: int
    input_bytes: int
    verbs: Mapping[str, Cost]
    settling: Mapping[int, Cost] = field(default_factory=dict)
    settling_signed: Mapping[int, Cost] = field(default_factory=dict)
    failing: Mapping[int, Cost] = field(default_factory=dict)

    def fail_fee_mist(self, price: int) -> int:
        """What failing an invocation pays."""
        settings = self.settings
        return (
            settings.fee_gas_units * price
            + settings.fee_storage_mist
            + settings.fee_per_input_byte_mist * self.input_bytes
        )

    def settle_fee_mist(self, price: int) -> int:
        """What settling it pays."""
        per_byte = self.settings.fee_per_outcome_byte_mist
        margin = self.settings.settle_margin_mist
        return self.fail_fee_mist(price) + margin + per_byte * self.answer_bytes


class _World:
    """A localnet with the package, tools, a leader and a requester, who all have SUI."""

    def __init__(self, client: SuiClient, deployment: Deployment) -> None:
        self.client = client
        self.deployment = deployment
        self.tools = ToolRegistry(client, deployment)
        self.leaders = LeaderRegistry(client, deployment)
        self.invocations = Invocations(client, deployment)
        self.key = Ed25519PrivateKey.generate()
        self.verbs: dict[str, Cost] = {}

    async def found(self) -> Address:
        """Register a leader, and three tools that list it; gives the leader."""
        sent, leader = await self.leaders.register("measured", activate=True)
        self.verbs["register a leader"] = cost_of(sent)
        terms = {
            _FREE: Registration(_definition(_FREE)),
            _PRICED: Registration(_definition(_PRICED), price_mist=1_000_000, leaders=(leader,)),
            _SIGNED: Registration(
                _definition(_SIGNED),
                leaders=(leader,),
                keys=(self.key.public_key().public_bytes_raw(),),
                requires_signed_outcome=True,
            ),
        }
        for name, registration in terms.items():
            registered = await self.tools.register(registration)
            assert registered.sent is not None
            if name == _FREE:
                self.verbs["register a tool"] = cost_of(registered.sent)
        return leader

    async def request(self, name: str, leader: Address, count: int) -> list[Address]:
        """So many invocations, requested in transactions of 16."""
        tool = await self.tools.get(f"{name}@1")
        settings = await self.leaders.settings()
        inputs, found = ports_of(_INPUTS), []
        bytes_ = inputs.size()
        mist = quote_mist(settings, tool, bytes_, DEFAULT_OUTCOME_BYTES, PRICE)
        terms = {"inputs": inputs, "max_outcome_bytes": DEFAULT_OUTCOME_BYTES, "payment_mist": mist}
        for start in range(0, count, 16):
            builder = TransactionBuilder()
            for _ in range(min(16, count - start)):
                add_request(builder, self.deployment, settings, tool, [leader], **terms)
            executed = await self.client.execute(builder)
            found += executed.created_of("invocation", "Invocation")
            if count == 1:
                self.verbs["request"] = cost_of(executed)
        return found

    async def close(self, name: str, leader: Address, outcome: Outcome, count: int) -> Cost:
        """What one of so many closings in a transaction costs; and what deleting one does."""
        places = await self.request(name, leader, count)
        builder = TransactionBuilder()
        for place in places:
            closing = outcome
            if name == _SIGNED and isinstance(outcome, Answer):
                closing = self._signed(place, outcome)
            add_outcome(builder, self.deployment, place, leader, closing)
        cost = cost_of(await self.client.execute(builder))
        deleted = await self.invocations.delete(*places)
        if count == 1:
            self.verbs["delete"] = cost_of(deleted)
        return cost.per(count)

    def _signed(self, place: Address, answer: Answer) -> Answer:
        key = self.key.public_key().public_bytes_raw()
        signature = self.key.sign(outcome_message(bytes(place), _INPUTS, answer))
        return Answer(answer.variant, answer.ports, OutcomeSignature(key, signature))


def _definition(name: str) -> ToolDefinition:
    number = {"type": "integer"}
    ports = {"type": "object", "properties": {"result": number}, "required": ["result"]}
    variant = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    inputs = {"type": "object", "properties": {"a": number, "b": number}}
    return ToolDefinition.parse(
        {
            "fqn": f"{name}@1",
            "url": "https://tools.example.com/add",
            "description": "Adds two integers.",
            "input_schema": inputs,
            "output_schema": {"type": "object", "oneOf": [variant]},
        }
    )


async def measure(protocol: int) -> Economy:
    """Execute each verb by the rules of a protocol version."""
    async with Localnet(origin=Origin(protocol_version=protocol)) as localnet:
        network = Network("localnet", localnet.url, localnet.url)
        key = KeyPair.new()
        await request_sui(network, key.address, 1_000 * _SUI)
        async with SuiClient(network, key) as client:
            published = await Publisher(client).publish(load_package())
            assert published.deployment is not None
            world = _World(client, published.deployment)
            world.verbs["publish the package"] = cost_of(published.sent)
            leader = await world.found()
            settling = {n: await world.close(_PRICED, leader, _ANSWER, n) for n in BATCHES}
            free = await world.close(_FREE, leader, _ANSWER, 1)
            failing = {n: await world.close(_FREE, leader, _FAILURE, n) for n in BATCHES}
            signed = {n: await world.close(_SIGNED, leader, _ANSWER, n) for n in SIGNED_BATCHES}
            verbs = world.verbs | {
                "settle, with a price": settling[1],
                "settle, without": free,
                "settle, signed": signed[1],
                "settle, 16 at once": settling[16],
                "fail": failing[1],
            }
            return Economy(
                protocol,
                await world.leaders.settings(),
                outcome_bytes(_ANSWER),
                ports_of(_INPUTS).size(),
                verbs,
                settling,
                signed,
                failing,
            )


# --- What is printed


def verbs_table(economies: Sequence[Economy]) -> Iterable[str]:
    """The cost of each verb, net, at the price of a localnet."""
    yield f"MIST for each verb at a gas price of {PRICE}, after rebates, by protocol"
    yield f"{'verb':24}" + "".join(f"{each.protocol:>16}" for each in economies)
    for verb in economies[0].verbs:
        costs = "".join(f"{each.verbs[verb].mist():>16,}" for each in economies)
        yield f"{verb:24}{costs}"


def margins_table(economy: Economy) -> Iterable[str]:
    """What is left of a fee when gas is paid: for each price and size of a batch."""
    yield f"MIST left to a leader for each invocation, protocol {economy.protocol}"
    sizes = "".join(f"{size:>12}" for size in BATCHES)
    yield f"{'':18}{'fee':>12}{sizes}"
    for price in PRICES:
        for name, fee, costs in (
            ("settle", economy.settle_fee_mist(price), economy.settling),
            ("settle, signed", economy.settle_fee_mist(price), economy.settling_signed),
            ("fail", economy.fail_fee_mist(price), economy.failing),
        ):
            left = "".join(
                f"{fee - costs[size].mist(price):>12,}" if size in costs else f"{'':12}"
                for size in BATCHES
            )
            yield f"{name:12}{price:>6}{fee:>12,}{left}"


def broken_rules(economy: Economy) -> Iterable[str]:
    """Where a fee would make something else pay than to settle."""
    for price in PRICES:
        for size in BATCHES:
            settled = economy.settle_fee_mist(price) - economy.settling[size].mist(price)
            failed = economy.fail_fee_mist(price) - economy.failing[size].mist(price)
            place = f"price {price}, {size} in a transaction"
            if settled <= failed:
                yield f"{place}: failing pays {failed - settled:,} MIST more than settling"
            if failed < 0:
                yield f"{place}: failing costs {-failed:,} MIST, so silence pays more"


def _document(economy: Economy) -> dict[str, object]:
    return {
        "protocol": economy.protocol,
        "cost_mist": {verb: cost.mist() for verb, cost in economy.verbs.items()},
        "margin_mist": {
            str(price): {
                "settle": {
                    str(size): economy.settle_fee_mist(price) - cost.mist(price)
                    for size, cost in economy.settling.items()
                },
                "fail": {
                    str(size): economy.fail_fee_mist(price) - cost.mist(price)
                    for size, cost in economy.failing.items()
                },
            }
            for price in PRICES
        },
        "broken_rules": [*broken_rules(economy)],
    }


def main() -> int:
    """Measure and print; 1 if by the default settings something else pays than to settle."""
    parser = argparse.ArgumentParser(prog="scripts/economics", description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures for programs")
    arguments = parser.parse_args()
    economies = [asyncio.run(measure(protocol)) for protocol in PROTOCOLS]
    if arguments.json:
        print(json.dumps([_document(each) for each in economies], indent=2))
    else:
        lines = [*verbs_table(economies)]
        for each in economies:
            lines += ["", *margins_table(each)]
        print("\n".join(lines))
    broken = [line for each in economies for line in broken_rules(each)]
    print("\n".join(broken) if broken else "settle > fail >= silence, everywhere")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
