"""The native functions of `sui::test_scenario`.

Source: the documentation of the Move module. Ids and contexts are equal to those of Sui's test
runner.
"""

from collections.abc import Iterable

from nexus_tools.sui.localnet.move_test.natives.framework import call_framework
from nexus_tools.sui.localnet.move_test.natives.tx_context import (
    create,
    gas_budget,
    get_ids_created,
    hinted_digest,
    replace_context,
)
from nexus_tools.sui.localnet.move_test.natives.values import create_clock, share_clock
from nexus_tools.sui.localnet.move_test.scenario import OBJECT_NOT_FOUND, Effects, scenario_of
from nexus_tools.sui.localnet.natives import NativeTable, natives_of, object_id_of, object_type
from nexus_tools.sui.localnet.vm import (
    Context,
    Native,
    NativeAbort,
    Reference,
    TypeArguments,
    Value,
)
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import AddressOwner, Immutable, MoveObject, Owner, Shared

_CANT_RETURN_OBJECT = 2
_TICKET_ALREADY_ALLOCATED = 6
_UNABLE_TO_DEALLOCATE_TICKET = 7
_SHARED, _IMMUTABLE = Shared(0), Immutable()


# --- Transactions


def begin(context: Context, _types: TypeArguments, sender: bytes) -> Value:
    """Start the first transaction of a test, and return the scenario."""
    return [0, replace_context(context, sender, hinted_digest(0))]


def make_tx_context(
    context: Context, types: TypeArguments, builder: Value, price: int, number: int
) -> Value:
    """Return the `TxContext` for a builder, a reference gas price and a transaction number."""
    sender, epoch, ms, ids_created, _price, *terms = builder
    digest = bytearray(hinted_digest(number))
    return create(context, types, sender, digest, epoch, ms, ids_created, price, *terms)


def ids_and_budget(context: Context, types: TypeArguments, ctx: Reference) -> tuple[int, int]:
    """Return the number of ids that the transaction has created, and its gas budget in MIST."""
    return get_ids_created(context, types, ctx), gas_budget(context, types, ctx)


def create_framework_objects(context: Context, _types: TypeArguments, ctx: Reference) -> None:
    """Share a clock, the random state and the deny list."""
    share_clock(context, (), create_clock(context, (), ctx))
    for module in ("random", "deny_list"):
        call_framework(context, module, "create", [ctx])


def begin_transaction(
    context: Context, _types: TypeArguments, ctx: Reference, sender: bytes, number: int
) -> None:
    """Start the next transaction, with a new sender and new ids."""
    now = scenario_of(context).runtime.transaction
    digest = hinted_digest(number)
    ctx.write(replace_context(context, sender, digest, now.epoch, now.epoch_timestamp_ms))


def pass_epochs(
    context: Context, _types: TypeArguments, ctx: Reference, epochs: int, ms: int
) -> None:
    """Advance the epoch by `epochs` and the time by `ms`."""
    now = scenario_of(context).runtime.transaction
    now.epoch += epochs
    now.epoch_timestamp_ms += ms
    ctx.write(now.as_move_value())


def end_transaction(context: Context, _types: TypeArguments) -> Value:
    """End the transaction and return its effects."""
    effects: Effects = scenario_of(context).end_transaction(context)
    return [
        _ids(effects.created),
        _ids(effects.written),
        _ids(effects.deleted),
        [[[_id(key), bytes(value)] for key, value in effects.to_account.items()]],
        # The list of transfers to objects is empty, because objects own only dynamic fields, which
        # are not transferred.
        [[]],
        _ids(effects.shared),
        _ids(effects.frozen),
        effects.events,
    ]


# --- Objects of an address


def take_from_address_by_id(
    context: Context, types: TypeArguments, _scenario: Reference, account: bytes, object_id: Value
) -> Value:
    """Take an object with this id from an address."""
    return scenario_of(context).take(_owner(account), Address(object_id[0]), object_type(types))


def most_recent_id_for_address(context: Context, types: TypeArguments, account: bytes) -> Value:
    """Return the id of the object of a type that an address received last."""
    return _last(context, _owner(account), types)


def ids_for_address(context: Context, types: TypeArguments, account: bytes) -> Value:
    """Return the ids of the objects of a type that an address owns."""
    return _ids(scenario_of(context).ids(_owner(account), object_type(types)))


def return_to_address(context: Context, types: TypeArguments, account: bytes, value: Value) -> None:
    """Return an object to the address from which the transaction took it."""
    _give_back(context, _owner(account), types, value)


def was_taken_from_address(
    context: Context, _types: TypeArguments, account: bytes, object_id: Value
) -> bool:
    """Return whether the transaction took an object from an address."""
    return scenario_of(context).was_taken(_owner(account), Address(object_id[0]))


# --- Shared and immutable objects


def _common(owner: Owner, name: str, most_recent_name: str) -> dict[str, Native]:
    """Return the native functions that exist for shared and for immutable objects."""

    def take(
        context: Context, types: TypeArguments, _scenario: Reference, object_id: Value
    ) -> Value:
        return scenario_of(context).take(owner, Address(object_id[0]), object_type(types))

    def most_recent(context: Context, types: TypeArguments) -> Value:
        return _last(context, owner, types)

    def give_back(context: Context, types: TypeArguments, value: Value) -> None:
        _give_back(context, owner, types, value)

    def was_taken(context: Context, _types: TypeArguments, object_id: Value) -> bool:
        return scenario_of(context).was_taken(owner, Address(object_id[0]))

    return {
        f"take_{name}_by_id": take,
        most_recent_name: most_recent,
        f"return_{name}": give_back,
        f"was_taken_{name}": was_taken,
    }


# --- Receiving objects


def receiving_ticket_by_id(context: Context, _types: TypeArguments, object_id: Value) -> Value:
    """Return a receiving ticket for an object that was sent to another object."""
    scenario, address = scenario_of(context), Address(object_id[0])
    stored = scenario.objects.get(address)
    if stored is None or not isinstance(stored.data, MoveObject):
        raise NativeAbort(OBJECT_NOT_FOUND)
    if address in scenario.taken or not isinstance(stored.owner, AddressOwner):
        raise NativeAbort(OBJECT_NOT_FOUND)
    if address in scenario.tickets:
        raise NativeAbort(_TICKET_ALREADY_ALLOCATED)
    scenario.tickets[address] = stored.version
    return [object_id, stored.version]


def return_receiving_ticket(context: Context, _types: TypeArguments, ticket: Value) -> None:
    """Return an unused receiving ticket to the scenario."""
    if scenario_of(context).tickets.pop(Address(ticket[0][0]), None) is None:
        raise NativeAbort(_UNABLE_TO_DEALLOCATE_TICKET)


# --- Values


def _give_back(context: Context, owner: Owner, types: TypeArguments, value: Value) -> None:
    scenario = scenario_of(context)
    if not scenario.was_taken(owner, object_id_of(value)):
        raise NativeAbort(_CANT_RETURN_OBJECT)
    scenario.runtime.transfer(owner, object_type(types), value)


def _last(context: Context, owner: Owner, types: TypeArguments) -> Value:
    ids = list(scenario_of(context).ids(owner, object_type(types)))
    return [_ids(ids[-1:])]


def _owner(account: bytes) -> AddressOwner:
    return AddressOwner(Address(account))


def _id(address: Address) -> Value:
    return [bytes(address)]


def _ids(addresses: Iterable[Address]) -> Value:
    return [_id(address) for address in addresses]


NATIVES: NativeTable = natives_of(
    SUI_FRAMEWORK,
    "test_scenario",
    begin=begin,
    begin_transaction=begin_transaction,
    create_framework_objects=create_framework_objects,
    ids_and_budget=ids_and_budget,
    make_tx_context=make_tx_context,
    pass_epochs=pass_epochs,
    end_transaction=end_transaction,
    take_from_address_by_id=take_from_address_by_id,
    most_recent_id_for_address=most_recent_id_for_address,
    ids_for_address=ids_for_address,
    return_to_address=return_to_address,
    was_taken_from_address=was_taken_from_address,
    receiving_ticket_by_id=receiving_ticket_by_id,
    return_receiving_ticket=return_receiving_ticket,
    **_common(_SHARED, "shared", "most_recent_id_shared"),
    **_common(_IMMUTABLE, "immutable", "most_recent_immutable_id"),
)
