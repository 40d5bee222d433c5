import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, replace
from threading import Barrier, Thread

import pytest

from nexus_tools.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Coin:
    """A value with what values have: a default, and something that follows from the rest."""

    amount: int
    owners: tuple[str, ...] = ()
    digits: int = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "digits", len(str(self.amount)))


@dataclass(frozen=True, slots=True)
class NamedCoin(Coin):
    """A value with one field more."""

    name: str = "SUI"


@dataclass(slots=True)
class Purse:
    """A thing that changes."""

    coins: list[Coin] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Thing:
    """Something that is equal to itself alone."""

    number: int


@pytest.fixture
def made(monkeypatch):
    """The names of the classes whose methods have been made."""
    names, make = [], dataclasses.dataclass

    def watched(**options):
        return lambda cls: names.append(cls.__name__) or make(**options)(cls)

    monkeypatch.setattr(dataclasses, "dataclass", watched)
    return names


def test_values_are_equal_by_their_fields():
    assert Coin(1, ("a",)) == Coin(1, ("a",))
    assert Coin(1) != Coin(2)
    assert Coin(1) != NamedCoin(1)
    assert len({Coin(1), Coin(1), Coin(2)}) == 2


def test_things_are_equal_to_themselves_alone():
    assert Thing(1) != Thing(1)


def test_a_value_says_what_it_is():
    assert repr(NamedCoin(5, name="X")) == "NamedCoin(amount=5, owners=(), name='X')"


def test_a_frozen_value_does_not_change():
    coin = Coin(12)
    with pytest.raises(FrozenInstanceError):
        coin.amount = 3
    with pytest.raises(FrozenInstanceError):
        del coin.amount
    assert (coin.amount, coin.digits) == (12, 2)


def test_what_is_not_frozen_changes_and_shares_no_defaults():
    purse = Purse()
    purse.coins.append(Coin(1))
    assert (purse.coins, Purse().coins) == ([Coin(1)], [])


def test_a_value_has_slots_alone():
    assert Coin.__slots__ == ("amount", "owners", "digits")
    assert NamedCoin.__slots__ == ("name",)
    assert not hasattr(NamedCoin(1), "__dict__")


def test_a_value_is_matched_by_place():
    match NamedCoin(7, ("b",)):
        case NamedCoin(amount, owners, name):
            assert (amount, owners, name) == (7, ("b",), "SUI")


def test_a_value_is_changed_by_making_another():
    assert replace(NamedCoin(1), amount=2) == NamedCoin(2)


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_a_value_is_copied_and_pickled(twin):
    assert twin(NamedCoin(10, ("c",))) == NamedCoin(10, ("c",))
    assert twin(NamedCoin(10)).digits == 2


def test_wrong_arguments_are_refused_as_usual():
    for _ in range(2):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'number'"):
            Thing()


def test_the_fields_are_there_without_a_value():
    @dataclass(frozen=True, slots=True)
    class Unused:
        first: int
        second: str = "x"

    assert Unused.__match_args__ == ("first", "second")
    assert [each.name for each in dataclasses.fields(Unused)] == ["first", "second"]


def test_methods_are_made_with_the_first_value_and_once(made):
    @dataclass(frozen=True, slots=True)
    class Base:
        first: int

    @dataclass(frozen=True, slots=True)
    class Derived(Base):
        second: int

    assert made == []
    assert [Derived(1, 2), Derived(1, 2)] == [Derived(1, 2)] * 2
    assert made == ["Derived", "Base"]


def test_a_class_is_used_by_several_threads_at_once(made):
    @dataclass(frozen=True, slots=True)
    class Shared:
        number: int

    def use(number):
        together.wait()
        found.append(Shared(number))

    together, found = Barrier(8), []
    threads = [Thread(target=use, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {Shared(number) for number in range(8)}
    assert made == ["Shared"]
