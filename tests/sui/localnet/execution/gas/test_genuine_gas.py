"""Computations above the minimum cost, compared with the cost on a real node.

The amounts come from `sui-adapter-transactional-tests` under gas model 11, at 1 000 MIST per gas
unit.
"""

from pathlib import Path

import pytest

from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.types.type_tag import Primitive, VectorTag

COSTLY = Path(__file__).parent / "costly"
RICH = 10**15


@pytest.fixture(scope="module")
def modules(move_builder):
    return move_builder.build(read_sources(COSTLY)).modules


@pytest.fixture
def cost(world, build, modules):
    """Return a function that returns the MIST of a call's computation; the result goes to Alice."""

    def measure(function, size):
        package, _ = world.publish(list(modules))
        result = build.move_call(package.id, "mm", function, [build.u64(size)])
        if function == "parcel":
            build.transfer_objects([result], world.ALICE)
        gas = world.coin(world.ALICE, RICH)
        done = world.succeed(build, payment=(gas,), budget=RICH // 100)
        return done.effects.gas_used.computation_cost

    return measure


def test_two_thousand_ids_cost_as_on_a_real_node(cost):
    """Most of the cost is natives, which count as instructions after the first 700 calls."""
    assert cost("ids", 2_048) == 12_700_000


def test_large_event_costs_as_on_a_real_node(cost):
    assert cost("message", 200_000 - 48) == 873_200_000


def test_large_object_costs_as_on_a_real_node(cost):
    assert cost("parcel", 255_999) == 1_172_000_000


def test_nested_vectors_cost_as_on_a_real_node(world, build):
    """Eight numbers, eight times the vector of them, and so on: seven of eight are copied."""
    elements, type_ = [build.u64(0)] * 8, Primitive.U64
    for _ in range(6):
        elements, type_ = [build.make_move_vec(elements, type_)] * 8, VectorTag(type_)
    gas = world.coin(world.ALICE, RICH)
    done = world.succeed(build, payment=(gas,), budget=RICH // 100)
    assert done.effects.gas_used.computation_cost == 139_000_000
