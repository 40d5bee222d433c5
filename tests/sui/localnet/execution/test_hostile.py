"""Malicious transactions end as refusals or effects, never as Python errors."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nexus_tools.sui.localnet.execution import Mode, TransactionRefused
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS
from nexus_tools.sui.types.transaction import (
    GasCoin,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    ProgrammableTransaction,
    Publish,
    Pure,
    Result,
    SplitCoins,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI, Primitive, VectorTag

PLACES = st.integers(0, 4)
ARGUMENTS = st.one_of(
    st.just(GasCoin()),
    PLACES.map(InputArgument),
    PLACES.map(Result),
    st.builds(NestedResult, PLACES, PLACES),
)
MANY = st.lists(ARGUMENTS, min_size=1, max_size=3).map(tuple)
FUNCTIONS = [
    "pair",
    "nothing",
    "sum",
    "increment",
    "lengths",
    "identify",
    "make_pair",
    "name_of",
    "new_thing",
    "value",
    "set",
    "swap",
    "destroy",
    "destroy_all",
    "soulbound",
    "wrap",
    "receive",
    "bump",
    "delete_box",
    "potato",
    "eat",
    "private_entry",
    "add_field",
    "remove_field",
    "emit",
    "big_object",
    "fail",
    "overflow",
    "circumstances",
    "private_eat",
]


def types(world):
    leaves = st.sampled_from(
        [*Primitive, SUI, GAS_COIN, world.tag("Thing"), world.tag("Potato"), world.tag("Nope")]
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(VectorTag), inner.map(lambda tag: world.tag("Pair", tag))
        ),
        max_leaves=3,
    )


def commands(world):
    modules = st.one_of(st.binary(max_size=20), st.sampled_from(list(world.probe_modules.values())))
    packages = st.sampled_from([(), (Address.of(1), Address.of(2)), (world.package,)])
    calls = st.builds(
        MoveCall,
        st.just(world.package),
        st.just("probe"),
        st.sampled_from(FUNCTIONS),
        st.lists(types(world), max_size=2).map(tuple),
        st.lists(ARGUMENTS, max_size=3).map(tuple),
    )
    return st.one_of(
        calls,
        st.builds(TransferObjects, MANY, ARGUMENTS),
        st.builds(SplitCoins, ARGUMENTS, MANY),
        st.builds(MergeCoins, ARGUMENTS, MANY),
        st.builds(MakeMoveVec, st.none() | types(world), MANY),
        st.builds(Publish, modules.map(lambda module: (module,)), packages),
        st.builds(
            Upgrade,
            modules.map(lambda module: (module,)),
            packages,
            st.just(world.package),
            ARGUMENTS,
        ),
    )


PURES = st.one_of(
    st.binary(max_size=40),
    st.integers(0, 2**64 - 1).map(lambda number: number.to_bytes(8, "little")),
    st.just(b"\xb0" * 32),
).map(Pure)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data(), mode=st.sampled_from([Mode.SIMULATE, Mode.INSPECT]))
def test_any_commands_end_in_effects_or_a_refusal(probed, drawn, mode):
    objects = [probed.argument(probed.box), probed.argument(probed.things()[0])]
    pures = drawn.draw(st.lists(PURES, max_size=3))
    run = drawn.draw(st.lists(commands(probed), max_size=4))
    kind = ProgrammableTransaction((*pures, *objects), tuple(run))
    try:
        result = probed.execute(probed.data(kind), mode)
    except TransactionRefused:
        return
    effects = result.effects
    assert TRANSACTION_EFFECTS.decode(effects.encode()) == effects
    assert effects.gas_used.net <= 5 * probed.SUI
    assert all(value.version == effects.lamport_version for value in _moves(result))


def _moves(result):
    return [value for value in result.written.values() if value.type is not None]
