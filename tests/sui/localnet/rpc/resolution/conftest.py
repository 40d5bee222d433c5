"""The probe package of the execution tests on the network, and shortcuts for its calls."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

EXECUTE = "TransactionExecutionService/ExecuteTransaction"
SIMULATE = "TransactionExecutionService/SimulateTransaction"
CREATED = 2
PROBE = Path(__file__).parents[2] / "execution" / "probe" / "bytecode" / "probe.mv"
INPUT, RESULT = 2, 3


def argument(index):
    return {"kind": INPUT, "input": index}


def result(command):
    return {"kind": RESULT, "result": command}


@dataclass
class Desk:
    """A sender of unresolved transactions for an account; `package` is the probe's ID or None."""

    client: object
    account: object
    package: Address | None = None

    def call(self, name, *arguments, module="probe", package=None, type_arguments=()):
        return {
            "move_call": {
                "package": str(package or self.package),
                "module": module,
                "function": name,
                "type_arguments": type_arguments,
                "arguments": arguments,
            }
        }

    def transaction(self, inputs=(), commands=(), **fields):
        kind = {"programmable_transaction": {"inputs": inputs, "commands": commands}}
        return {"sender": str(self.account.address), "kind": kind} | fields

    def simulate(self, inputs=(), commands=(), *, select=True, checks=0, **fields):
        wanted = self.transaction(inputs, commands, **fields)
        return self.client.call(
            SIMULATE, transaction=wanted, do_gas_selection=select, checks=checks
        )

    def inputs(self, inputs, commands, **options):
        """Return the resolved inputs."""
        simulated = self.simulate(inputs, commands, **options).transaction
        return simulated.transaction.kind.programmable_transaction.inputs

    def execute(self, simulated, *others):
        """Sign the resolved transaction unchanged and execute it."""
        data = simulated.transaction.bcs.value
        signatures = [{"bcs": {"value": item.sign(data)}} for item in (self.account, *others)]
        transaction = {"bcs": {"value": data}}
        executed = self.client.call(EXECUTE, "*", transaction=transaction, signatures=signatures)
        assert executed.transaction.effects.status.success, executed.transaction.effects.status
        return executed.transaction

    def run(self, inputs, commands):
        return self.execute(self.simulate(inputs, commands).transaction)

    def make(self, *commands, inputs=()):
        """Run commands, and return the first object that they create."""
        executed = self.run(inputs, commands)
        return next(
            change.object_id
            for change in executed.effects.changed_objects
            if change.id_operation == CREATED
        )

    def make_thing(self, owner=None):
        """Create a `Thing` for the account or another address."""
        recipient = {"literal": {"string_value": str(owner or self.account.address)}}
        return self.make(
            self.call("new_thing", argument(0)),
            {"transfer_objects": {"objects": [result(0)], "address": argument(1)}},
            inputs=[{"literal": {"number_value": 7}}, recipient],
        )

    def object(self, object_id):
        return self.client.call("LedgerService/GetObject", "*", object_id=str(object_id)).object


@pytest.fixture
def desk(client, alice):
    """Return a sender of Alice's unresolved transactions."""
    return Desk(client, alice)


@pytest.fixture
def probe(desk):
    """Publish the probe package, and return the sender and the shared `Box`."""
    builder = TransactionBuilder()
    cap = builder.publish([PROBE.read_bytes()], [Address.of(1), Address.of(2)])
    builder.transfer_objects([cap], desk.account.address)
    executed = desk.account.execute(desk.client, builder)
    created = {
        change.object_type.rpartition("::")[2]: change.object_id
        for change in executed.effects.changed_objects
        if change.id_operation == CREATED
    }
    desk.package = Address.parse(created["package"])
    return desk, created["Box"]
