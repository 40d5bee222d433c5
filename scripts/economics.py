"""The costs of the package's operations, and a leader's margin from its fees.

`execution_economics.py` measures transactions of executions and schedules.

Each operation is executed on a localnet at the reference gas price of 1 000 MIST, once for each
batch size. Computation costs are in gas units, so that they can be converted to any other gas
price. Storage costs do not depend on the gas price.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from execution_economics import (
    Step,
    broken_execution_rules,
    execution_document,
    execution_table,
    measure_executions,
)
from gas_costs import PRICE, PRICES, PROTOCOLS, Cost, cost_of
from nexus_tools.contracts import Deployment, Publisher, load_package, ports_of
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.registry import (
    DEFAULT_MAX_OUTCOME_BYTES,
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    add_outcome,
    add_request,
    quote_mist,
)
from nexus_tools.sui.client import SuiClient, request_sui
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Localnet, Origin
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    OutcomeSignature,
    ToolDefinition,
    outcome_bytes,
)
from nexus_tools.tool.signing.signed_outcome import outcome_message

BATCHES = (1, 2, 4, 8, 16, 32, 64)
SIGNED_BATCHES = (1, 16, 32, 64)
MAX_SIGNED = 32
"""The maximum number of signed answers in a transaction, up to which a Leader makes a profit."""

LARGE_BATCHES = (1, 2, 4, 8, 16, 32)
LARGE_BYTES = 64_000
"""The size of inputs that are nearly as large as the registry allows, in bytes."""

RECORDS = 1_000
"""The number of false settlements with which a leader improves its own record."""

_SUI = 1_000_000_000
_INPUTS: Mapping[str, object] = {"a": 20, "b": 22}
_LARGE: Mapping[str, object] = {"a": 20, "b": "x" * LARGE_BYTES}
_ANSWER = Answer("ok", {"result": 42})
_FAILURE = Failure(FailureReason.UNREACHABLE, "x" * 200)
_PRICED, _FREE, _SIGNED = (
    "xyz.example.math.priced",
    "xyz.example.math.free",
    "xyz.example.math.signed",
)


@dataclass(frozen=True, slots=True)
class Economy:
    """All measurements under the rules of one protocol version.

    Costs are per invocation, by batch size.
    """

    protocol: int
    settings: LeaderSettings
    answer_bytes: int
    input_bytes: int
    verbs: Mapping[str, Cost]
    settling: Mapping[int, Cost] = field(default_factory=dict)
    settling_signed: Mapping[int, Cost] = field(default_factory=dict)
    failing: Mapping[int, Cost] = field(default_factory=dict)
    settling_large: Mapping[int, Cost] = field(default_factory=dict)
    failing_large: Mapping[int, Cost] = field(default_factory=dict)
    executions: Mapping[str, Step] = field(default_factory=dict)

    def fail_fee_mist(self, price: int, more_bytes: int = 0) -> int:
        """Return the fee for failing an invocation, with `more_bytes` of additional inputs."""
        settings = self.settings
        return (
            settings.fee_gas_units * price
            + settings.fee_storage_mist
            + settings.fee_per_input_byte_mist * (self.input_bytes + more_bytes)
        )

    def settle_fee_mist(self, price: int, more_bytes: int = 0) -> int:
        """Return the fee for settling an invocation, with `more_bytes` of additional inputs."""
        per_byte = self.settings.fee_per_outcome_byte_mist
        margin = self.settings.settle_margin_mist
        return self.fail_fee_mist(price, more_bytes) + margin + per_byte * self.answer_bytes

    @property
    def record_mist(self) -> int:
        """The cost of settling `RECORDS` own invocations. Prices and fees return to the payer."""
        verbs = ("request, 16 at once", "settle, 16 at once", "delete, 16 at once")
        return RECORDS * sum(self.verbs[verb].mist() for verb in verbs)


class _World:
    """A localnet with the package, tools, a leader and a requester, all with SUI."""

    def __init__(self, client: SuiClient, deployment: Deployment) -> None:
        self.client = client
        self.deployment = deployment
        self.tools = ToolRegistry(client, deployment)
        self.leaders = LeaderRegistry(client, deployment)
        self.invocations = Invocations(client, deployment)
        self.key = Ed25519PrivateKey.generate()
        self.verbs: dict[str, Cost] = {}

    async def found(self) -> Address:
        """Register a leader, and three tools that list it. Return the leader."""
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

    async def request(
        self, name: str, leader: Address, count: int, asked: Mapping[str, object]
    ) -> list[Address]:
        """Request `count` invocations in as few transactions as possible."""
        tool = await self.tools.get(f"{name}@1")
        settings = await self.leaders.settings()
        inputs = ports_of(asked)
        bytes_ = inputs.size()
        found: list[Address] = []
        mist = quote_mist(settings, tool, bytes_, DEFAULT_MAX_OUTCOME_BYTES, PRICE)
        at_once = 1 if bytes_ > LARGE_BYTES else 16
        for start in range(0, count, at_once):
            builder = TransactionBuilder()
            for _ in range(min(at_once, count - start)):
                add_request(
                    builder,
                    self.deployment,
                    settings,
                    tool,
                    [leader],
                    inputs=inputs,
                    max_outcome_bytes=DEFAULT_MAX_OUTCOME_BYTES,
                    payment_mist=mist,
                )
            executed = await self.client.execute(builder)
            found += executed.created_of("invocation", "Invocation")
            self._measured("request", cost_of(executed), count if at_once == 16 else 0)
        return found

    def _measured(self, verb: str, cost: Cost, count: int) -> None:
        """Record the cost of a single operation, or of one of 16 operations in a transaction."""
        if count == 1:
            self.verbs[verb] = cost
        elif count == 16:
            self.verbs[f"{verb}, 16 at once"] = cost.per(16)

    async def close(
        self,
        name: str,
        leader: Address,
        outcome: Outcome,
        count: int,
        asked: Mapping[str, object] = _INPUTS,
    ) -> Cost:
        """Close invocations in one transaction, and return the cost per invocation.

        Also record the cost of deleting the invocations.
        """
        places = await self.request(name, leader, count, asked)
        builder = TransactionBuilder()
        for place in places:
            closing = outcome
            if name == _SIGNED and isinstance(outcome, Answer):
                closing = self._signed(place, outcome)
            add_outcome(builder, self.deployment, place, leader, closing)
        cost = cost_of(await self.client.execute(builder))
        deleted = await self.invocations.delete(*places)
        if asked is _INPUTS:
            self._measured("delete", cost_of(deleted), count)
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
    """Execute each operation under the rules of a protocol version."""
    async with Localnet(origin=Origin(protocol_version=protocol)) as localnet:
        network = Network("localnet", localnet.url, localnet.url)
        key = KeyPair.new()
        await request_sui(network, key.address, 1_000 * _SUI)
        async with SuiClient(network, key) as client:
            published = await Publisher(client).publish_tools(load_package())
            assert published.deployment is not None
            world = _World(client, published.deployment)
            world.verbs["publish the package"] = cost_of(*published.sent)
            leader = await world.found()
            settling = {n: await world.close(_PRICED, leader, _ANSWER, n) for n in BATCHES}
            free = await world.close(_FREE, leader, _ANSWER, 1)
            failing = {n: await world.close(_FREE, leader, _FAILURE, n) for n in BATCHES}
            signed = {n: await world.close(_SIGNED, leader, _ANSWER, n) for n in SIGNED_BATCHES}
            settling_large, failing_large = [
                {n: await world.close(_FREE, leader, answer, n, _LARGE) for n in LARGE_BATCHES}
                for answer in (_ANSWER, _FAILURE)
            ]
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
                settling_large,
                failing_large,
            )


# --- Output


def verbs_table(economies: Sequence[Economy]) -> Iterable[str]:
    """Yield a table of the net cost of each operation, at the price of a localnet."""
    yield f"Cost of each operation in MIST, after rebates, at gas price {PRICE}, by protocol"
    yield f"{'verb':24}" + "".join(f"{economy.protocol:>16}" for economy in economies)
    for verb in economies[0].verbs:
        costs = "".join(f"{economy.verbs[verb].mist():>16,}" for economy in economies)
        yield f"{verb:24}{costs}"


def margins_table(economy: Economy) -> Iterable[str]:
    """Yield a table of fees minus gas, for each price and batch size."""
    yield f"A leader's margin per invocation in MIST, protocol {economy.protocol}"
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


def large_table(economy: Economy) -> Iterable[str]:
    """Yield a table of fees minus gas for inputs that are nearly as large as allowed."""
    sizes = "".join(f"{size:>12}" for size in LARGE_BATCHES)
    yield f"The same margin with inputs of {LARGE_BYTES:,} bytes, protocol {economy.protocol}"
    yield f"{'':18}{'fee':>12}{sizes}"
    for price in PRICES:
        for name, (fee, left) in large_margins(economy, price).items():
            yield f"{name:12}{price:>6}{fee:>12,}" + "".join(f"{amount:>12,}" for amount in left)


def large_margins(economy: Economy, price: int) -> Mapping[str, tuple[int, list[int]]]:
    """Return the fees and margins of settling and failing with large inputs.

    The margins are for each batch size.
    """
    more = ports_of(_LARGE).size() - economy.input_bytes
    fees = {
        "settle": (economy.settle_fee_mist(price, more), economy.settling_large),
        "fail": (economy.fail_fee_mist(price, more), economy.failing_large),
    }
    return {
        name: (fee, [fee - costs[size].mist(price) for size in LARGE_BATCHES])
        for name, (fee, costs) in fees.items()
    }


def broken_rules(economy: Economy) -> Iterable[str]:
    """Yield the cases in which a fee makes another action more profitable than settling."""
    for price in PRICES:
        for size in BATCHES:
            settled = economy.settle_fee_mist(price) - economy.settling[size].mist(price)
            failed = economy.fail_fee_mist(price) - economy.failing[size].mist(price)
            if size in economy.settling_signed and size <= MAX_SIGNED:
                signed_mist = economy.settling_signed[size].mist(price)
                settled = min(settled, economy.settle_fee_mist(price) - signed_mist)
            place = f"price {price}, {size} in a transaction"
            if settled <= failed:
                yield f"{place}: failing pays {failed - settled:,} MIST more than settling"
            if failed < 0:
                yield f"{place}: failing loses {-failed:,} MIST, so doing nothing earns more"
    yield from broken_execution_rules(economy.executions)


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
        "record_mist": economy.record_mist,
        "executions": execution_document(economy.executions),
        "broken_rules": [*broken_rules(economy)],
    }


def main() -> int:
    """Measure and print. Return 1 if another action earns more than settling by default."""
    parser = argparse.ArgumentParser(prog="scripts/economics", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    arguments = parser.parse_args()
    economies = [
        replace(asyncio.run(measure(protocol)), executions=measure_executions(protocol))
        for protocol in PROTOCOLS
    ]
    if arguments.json:
        print(json.dumps([_document(economy) for economy in economies], indent=2))
    else:
        lines = [*verbs_table(economies)]
        for economy in economies:
            lines += ["", *margins_table(economy), "", *large_table(economy)]
            lines += ["", *execution_table(economy.protocol, economy.executions)]
        for economy in economies:
            sui = economy.record_mist / _SUI
            lines += [f"cost of {RECORDS:,} false settlements: {sui:.2f} SUI"]
        print("\n".join(lines))
    broken = [line for economy in economies for line in broken_rules(economy)]
    print("\n".join(broken) if broken else "settle > fail >= silence, everywhere")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
