"""References that commands return, as inspections may use them. Their targets stay intact."""

import pytest

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ExecutionFailure,
    Success,
)

MANIFEST = '[package]\nname = "pairs"\nedition = "2024"\n\n[addresses]\npairs = "0x0"\n'
SOURCE = """
module pairs::pairs;

public struct Pair has copy, drop { left: u64, right: u64 }

public fun new(): Pair { Pair { left: 1, right: 2 } }
public fun take(_pair: Pair) {}
public fun sum(pair: &Pair): u64 { pair.left + pair.right }
public fun left(pair: &Pair): &u64 { &pair.left }
public fun left_mut(pair: &mut Pair): &mut u64 { &mut pair.left }
public fun both_mut(pair: &mut Pair): (&mut u64, &mut u64) { (&mut pair.left, &mut pair.right) }
public fun get(number: &u64): u64 { *number }
public fun set(number: &mut u64, value: u64) { *number = value; }
public fun swap(one: &mut u64, other: &mut u64) {
    let kept = *one;
    *one = *other;
    *other = kept;
}
"""


@pytest.fixture(scope="module")
def modules(move_builder):
    files = {"Move.toml": MANIFEST, "sources/pairs.move": SOURCE}
    return move_builder.build(files).modules


class Pairs:
    """An inspected transaction over one pair, (1, 2)."""

    def __init__(self, world, build, package):
        self._world = world
        self._build = build
        self._package = package
        self.pair = self.call("new")

    def call(self, function, *arguments):
        given = [
            self._build.u64(argument) if isinstance(argument, int) else argument
            for argument in arguments
        ]
        return self._build.move_call(self._package, "pairs", function, given)

    def inspect(self):
        return self._world.execute(self._world.data(self._build), Mode.INSPECT)

    def returned(self):
        """Return the result of the last command as a u64."""
        result = self.inspect()
        assert result.effects.status == Success(), result.failure
        return u64.decode(result.command_results[-1].return_values[0][1])

    def refused(self):
        """Return the kind of the argument error, the argument, and the command."""
        status = self.inspect().effects.status
        assert isinstance(status, ExecutionFailure)
        assert isinstance(status.error.data, CommandArgumentError)
        return status.error.data.kind, status.error.data.argument, status.command


@pytest.fixture
def pairs(world, build, modules):
    package, _ = world.publish(modules)
    return Pairs(world, build, package.id)


def test_write_through_a_reference_is_visible_afterwards(pairs):
    left = pairs.call("left_mut", pairs.pair)
    pairs.call("set", left, 40)
    pairs.call("sum", pairs.pair)
    assert pairs.returned() == 42


def test_mutable_reference_is_accepted_as_immutable(pairs):
    left = pairs.call("left_mut", pairs.pair)
    pairs.call("get", left)
    pairs.call("get", left)
    assert pairs.returned() == 1


def test_target_of_a_reference_can_be_copied(pairs):
    left, target = pairs.call("left", pairs.pair), pairs.call("new")
    pairs.call("set", pairs.call("left_mut", target), left)
    pairs.call("sum", target)
    assert pairs.returned() == 3


def test_immutable_reference_is_refused_as_mutable(pairs):
    pairs.call("set", pairs.call("left", pairs.pair), 5)
    assert pairs.refused() == (ArgumentErrorKind.TYPE_MISMATCH, 0, 2)


def test_two_references_of_one_call_are_distinct(pairs):
    both = pairs.call("both_mut", pairs.pair)
    pairs.call("swap", both[0], both[1])
    pairs.call("get", pairs.call("left", pairs.pair))
    assert pairs.returned() == 2


def test_mutable_reference_cannot_be_passed_twice(pairs):
    left = pairs.call("left_mut", pairs.pair)
    pairs.call("swap", left, left)
    # The first is a copy; the second, its last use, is the reference itself.
    assert pairs.refused() == (ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT, 1, 2)


def test_reference_into_a_value_prevents_changes_of_the_value(pairs):
    left = pairs.call("left", pairs.pair)
    pairs.call("left_mut", pairs.pair)
    pairs.call("get", left)
    assert pairs.refused() == (ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT, 0, 2)


def test_unused_reference_prevents_nothing(pairs):
    pairs.call("get", pairs.call("left", pairs.pair))
    pairs.call("set", pairs.call("left_mut", pairs.pair), 7)
    pairs.call("sum", pairs.pair)
    assert pairs.returned() == 9


def test_value_copied_while_borrowed_stays(pairs):
    left = pairs.call("left", pairs.pair)
    pairs.call("take", pairs.pair)
    pairs.call("get", left)
    assert pairs.returned() == 1


def test_borrowed_coin_cannot_be_moved(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 9)))
    build.merge_coins(coin, [coin])
    wrong = CommandArgumentError(1, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
    assert world.fail_argument(build) == (wrong, 0)
